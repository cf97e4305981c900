// Finds the event below the pointer, and describes it in a tip.

import {curveWords} from "replay/curves.js";
import {describe} from "replay/details.js";
import {entryWidth} from "replay/entries.js";
import {redraw} from "replay/draw.js";
import {arrowOf, entryTop, shownMessage, waitTop} from "replay/layout.js";
import {boxOf} from "replay/operations.js";
import {ENTRY, WAIT_ROW, canvas, state, tip} from "replay/state.js";
import {VOTE} from "replay/votes.js";
import {timeText} from "replay/formatting.js";

const NEAR = 7;

export function under(px, py) {
  let best = null;
  let nearest = NEAR;
  for (const message of state.world.messages) {
    if (!shownMessage(message)) continue;
    const away = distance(px, py, arrowOf(message));
    if (away < nearest) [nearest, best] = [away, message];
  }
  const mark = state.world.marks.findLast((one) => Math.abs(state.x(one.start) - px) <= VOTE &&
    Math.abs(state.lanes[one.replica].line - py) <= VOTE);
  if (mark) return mark;
  if (best && nearest < 3) return best;
  for (const note of state.world.notes) {
    if (py > 14 && py < 32 && Math.abs(state.x(note.start) - px) < 5) return note;
    if (note === state.world.problem && Math.abs(state.x(note.start) - px) < 3) return note;
  }
  const within = (event, top, tall) =>
    py >= top && py <= top + tall && px >= state.x(event.start) - 2 && px <= state.x(event.end) + 2;
  const wait = state.world.waits.findLast((one) => within(one, waitTop(one), WAIT_ROW));
  if (wait) return wait;
  const operation = state.world.operations.findLast((one) => {
    const [from, top, wide, tall] = boxOf(one);
    return px >= from && px <= from + wide && py >= top && py < top + tall;
  });
  if (operation) return operation;
  const entry = state.world.entries.findLast((one) => py >= entryTop(one) &&
    py < entryTop(one) + ENTRY && Math.abs(px - state.x(one.start) - entryWidth(one) / 2) <=
    entryWidth(one) / 2 + 2);
  if (entry) return entry;
  if (best) return best;
  const onLane = (event, replica) => {
    const lane = state.lanes[replica];
    return lane && within(event, lane.top - 6, lane.bottom - lane.top + 12);
  };
  return state.world.downs.find((down) => onLane(down, down.replica)) ??
    state.world.faults.find((fault) => fault.replicas.some((one) => onLane(fault, one))) ?? null;
}

// The distance of a point from a segment.
function distance(px, py, [x1, y1, x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const square = dx * dx + dy * dy;
  const t = square ? Math.max(0, Math.min(1, ((px - x1) * dx + (py - y1) * dy) / square)) : 0;
  return Math.hypot(px - x1 - t * dx, py - y1 - t * dy);
}

export function hover(pointer) {
  const [px, py] = d3.pointer(pointer, canvas);
  const before = state.hovered;
  state.hovered = px < state.left ? null : under(px, py);
  const words = state.hovered || px < state.left ? null : curveWords(px, py);
  tip.hidden = !state.hovered && !words;
  tip.replaceChildren();
  if (state.hovered) describe(state.hovered, tip);
  if (words) describe({kind: "curve", what: timeText(state.x.invert(px)), facts: words}, tip);
  const aside = px > state.width / 2;
  tip.style.left = aside ? "" : `${px + 14}px`;
  tip.style.right = aside ? `${state.width - px + 14}px` : "";
  tip.style.top = `${Math.min(py + 14, state.height - 40)}px`;
  document.body.dataset.hovered = state.hovered ? state.hovered.kind : "";
  if (before !== state.hovered) redraw();
}
