// Draws the steps of a script on the line of the replica that performs it, votes above all.

import {inView} from "replay/layout.js";
import {state} from "replay/state.js";

export const VOTE = 5;  // pixels: half of a mark's size

// Yes points up, no points down, a lost vote is a cross, another step a tick.
export function drawVotes(pen) {
  for (const mark of state.world.marks.filter(inView)) {
    const at = state.x(mark.start);
    const {line} = state.lanes[mark.replica];
    pen.strokeStyle = pen.fillStyle = mark.wrong ? state.colour.problem
      : mark.vote === "yes" ? state.colour["quorum-mark"] : state.colour.ink;
    if (mark.vote === "yes" || mark.vote === "no") triangle(pen, at, line, mark.vote === "yes");
    else if (mark.vote === "lost") cross(pen, at, line);
    else pen.fillRect(at - 0.75, line - VOTE, 1.5, 2 * VOTE);
    if (!mark.wrong) continue;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(at, line, VOTE + 4, 0, 2 * Math.PI);
    pen.stroke();
    pen.lineWidth = 1;
  }
}

function triangle(pen, at, line, up) {
  const tip = up ? -VOTE : VOTE;
  pen.beginPath();
  pen.moveTo(at - VOTE, line - tip);
  pen.lineTo(at + VOTE, line - tip);
  pen.lineTo(at, line + tip);
  pen.fill();
}

function cross(pen, at, line) {
  pen.beginPath();
  for (const side of [-1, 1]) {
    pen.moveTo(at - VOTE, line - VOTE * side);
    pen.lineTo(at + VOTE, line + VOTE * side);
  }
  pen.stroke();
}
