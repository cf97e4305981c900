// Moves and zooms: sets the span of time in view.

import {canvas, state, zoom} from "replay/state.js";

export const ZOOM_MAX = 1e6;

export function show([from, to]) {
  const whole = state.base.domain()[1] - state.base.domain()[0];
  const span = Math.min(whole, Math.max(to - from, whole / ZOOM_MAX));
  const scale = whole / span;
  const start = Math.max(state.base.domain()[0], Math.min(from, state.base.domain()[1] - span));
  d3.select(canvas).call(zoom.transform,
    d3.zoomIdentity.translate(state.left, 0).scale(scale).translate(-state.base(start), 0));
}

export function pan(part) {
  const [from, to] = state.x.domain();
  show([from + (to - from) * part, to + (to - from) * part]);
}

export function scaleBy(factor) {
  const [from, to] = state.x.domain();
  const middle = (from + to) / 2;
  show([middle - (to - from) / factor / 2, middle + (to - from) / factor / 2]);
}

// Brings an event into view, close enough to tell it from its neighbours.
export function goTo(event) {
  const [from, to] = state.x.domain();
  const close = Math.max((event.end - event.start) * 8, (state.world.end - state.world.begin) / 40);
  const span = Math.min(to - from, close);
  const middle = event.kind === "wait" ? event.start : (event.start + event.end) / 2;
  show([middle - span / 2, middle + span / 2]);
}
