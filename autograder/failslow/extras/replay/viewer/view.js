// Moves and zooms: sets the span of time in view.

import {positionOf} from "replay/order.js";
import {canvas, state, zoom} from "replay/state.js";

export const ZOOM_MAX = 1e6;
const INSTANTS_MIN = 12;  // in view, by order

export const show = (times) => showPositions(times.map(positionOf));

function showPositions([from, to]) {
  const whole = state.base.domain()[1] - state.base.domain()[0];
  const span = Math.min(whole, Math.max(to - from, whole / ZOOM_MAX));
  const scale = whole / span;
  const start = Math.max(state.base.domain()[0], Math.min(from, state.base.domain()[1] - span));
  d3.select(canvas).call(zoom.transform,
    d3.zoomIdentity.translate(state.left, 0).scale(scale).translate(-state.base(start), 0));
}

export function pan(part) {
  const [from, to] = state.x.positions();
  showPositions([from + (to - from) * part, to + (to - from) * part]);
}

export function scaleBy(factor) {
  const [from, to] = state.x.positions();
  const middle = (from + to) / 2;
  showPositions([middle - (to - from) / factor / 2, middle + (to - from) / factor / 2]);
}

// Shows these times with a margin on each side, which is at least a part of the span. `least`: the
// shortest span in nanoseconds.
export function showAround(from, to, margin, least) {
  const [first, last] = [positionOf(from), positionOf(to)];
  const aside = Math.max(margin * (last - first),
    ((state.instants ? INSTANTS_MIN : least) - (last - first)) / 2);
  showPositions([first - aside, last + aside]);
}

// Brings an event into view, close enough to tell it from its neighbours.
export function goTo(event) {
  const [from, to] = state.x.positions();
  const [first, last] = [positionOf(event.start), positionOf(event.end)];
  const near = state.instants ? 2 * INSTANTS_MIN
    : (state.world.end - state.world.begin) / 40;
  const span = Math.min(to - from, Math.max((last - first) * 8, near));
  const middle = event.kind === "wait" ? first : (first + last) / 2;
  showPositions([middle - span / 2, middle + span / 2]);
}
