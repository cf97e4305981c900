// Draws the history, violations, matches and the selection.

import {entryWidth} from "replay/entries.js";
import {fitted} from "replay/labels.js";
import {arrowOf, entryTop, inView, waitTop} from "replay/layout.js";
import {drawHead} from "replay/messages.js";
import {boxOf} from "replay/operations.js";
import {ENTRY, WAIT_ROW, state} from "replay/state.js";
import {VOTE} from "replay/votes.js";

export function drawNotes(pen) {
  pen.fillStyle = state.colour.quiet;
  for (const note of state.world.notes) {
    if (!note.problem && inView(note)) pen.fillRect(state.x(note.start) - 0.5, 18, 1.5, 9);
  }
  for (const note of state.world.notes) {
    if (!note.problem || note === state.world.problem || !inView(note)) continue;
    drawProblem(pen, note, false);
  }
  const first = state.world.problem;
  if (first && inView(first)) drawProblem(pen, first, true);
}

function drawProblem(pen, note, first) {
  const at = state.x(note.start);
  pen.strokeStyle = pen.fillStyle = state.colour.problem;
  pen.globalAlpha = first ? 1 : 0.4;
  pen.lineWidth = first ? 2 : 1;
  pen.beginPath();
  pen.moveTo(at, 18);
  pen.lineTo(at, state.height);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(at - 6, 18);
  pen.lineTo(at + 6, 18);
  pen.lineTo(at, 28);
  pen.fill();
  pen.lineWidth = 1;
  pen.globalAlpha = 1;
  if (!first) return;
  pen.font = "bold 12px system-ui, sans-serif";
  const room = at > state.width / 2;
  pen.textAlign = room ? "right" : "left";
  const space = (room ? at - state.left : state.width - at) - 12;
  pen.fillText(fitted(pen, note.headline, space), at + (room ? -9 : 9), 38);
}

// The instant that the address names.
export function drawInstant(pen) {
  if (state.instant === null) return;
  pen.fillStyle = state.colour.focus;
  pen.fillRect(state.x(state.instant) - 1, 16, 2, state.height - 16);
}

export function drawEmphasis(pen) {
  for (const event of state.matches) {
    if (inView(event) && (event.kind !== "message" || !state.hidden.has(event.type))) {
      emphasise(pen, event, state.colour.match, 2);
    }
  }
  if (state.hovered) emphasise(pen, state.hovered, state.colour.ink, 2.5);
  const {selected} = state;
  if (selected && inView(selected)) emphasise(pen, selected, state.colour.focus, 3.5);
}

function emphasise(pen, event, stroke, thickness) {
  pen.strokeStyle = pen.fillStyle = stroke;
  pen.lineWidth = thickness;
  pen.beginPath();
  if (event.kind === "message") {
    const [x1, y1, x2, y2] = arrowOf(event);
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
    drawHead(pen, [x1, y1, x2, y2], event);
  } else if (event.kind === "wait") {
    const from = state.x(event.start);
    pen.rect(from, waitTop(event) - 0.5, Math.max(3, state.x(event.end) - from), WAIT_ROW);
    pen.stroke();
  } else if (event.kind === "entry") {
    pen.strokeRect(state.x(event.start), entryTop(event), entryWidth(event), ENTRY - 1);
  } else if (event.kind === "operation") {
    pen.strokeRect(...boxOf(event));
  } else if (event.kind === "mark") {
    pen.arc(state.x(event.start), state.lanes[event.replica].line, VOTE + 2, 0, 2 * Math.PI);
    pen.stroke();
  } else if (event.kind === "note") {
    pen.fillRect(state.x(event.start) - 1.5, 17, 3.5, 13);
  }
  pen.lineWidth = 1;
}
