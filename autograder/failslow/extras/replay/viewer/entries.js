// Draws the lanes of the log: each entry, and a dotted line to its decided dependency.

import {entryTop, inView} from "replay/layout.js";
import {ENTRY, ENTRY_ROWS, recording, state} from "replay/state.js";

const NAME = 32;  // pixels
const WIDTH_MIN = 4;  // pixels, so that an entry that runs at once is visible

export const entryWidth = (entry) => Math.max(WIDTH_MIN, state.x(entry.end) - state.x(entry.start));

const middleOf = (entry) => entryTop(entry) + ENTRY / 2 - 0.5;

export function drawEntries(pen) {
  const visible = state.world.entries.filter(inView);
  pen.setLineDash([2, 3]);
  for (const entry of visible.filter((each) => each.before?.since)) {
    pen.strokeStyle = entry.cycle ? state.colour.problem : state.colour.quiet;
    pen.beginPath();
    pen.moveTo(state.x(entry.since), middleOf(entry));
    pen.lineTo(state.x(entry.before.since), middleOf(entry.before));
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.textAlign = "left";
  pen.font = "9px system-ui, sans-serif";
  for (const entry of visible) drawEntry(pen, entry);
}

// Thin until it is decided, then a bar until it has run.
function drawEntry(pen, entry) {
  const begin = state.x(entry.start);
  const end = begin + entryWidth(entry);
  const since = entry.since === null ? end : Math.min(state.x(entry.since), end - WIDTH_MIN);
  pen.fillStyle = entry.cycle ? state.colour.problem
    : entry.dependency === null ? state.colour.lane : state.colour["quorum-mark"];
  pen.fillRect(begin, middleOf(entry) - 0.5, since - begin, 1.5);
  pen.fillRect(since, entryTop(entry), end - since, ENTRY - 1);
  if (entry.neighbour && state.x(entry.neighbour.start) < end + NAME) return;
  pen.fillStyle = state.colour.ink;
  pen.fillText(entry.what, end + 2, entryTop(entry) + ENTRY - 1);
}

export function drawLaneNames(pen) {
  state.entryTops.forEach((top, lane) => {
    pen.fillText(`lane ${recording.lanes[lane]}`, 6, top + ENTRY_ROWS * ENTRY / 2 + 4);
  });
}
