// Draws the canvas anew, the lowest layer first.

import {drawCurves} from "replay/curves.js";
import {drawEntries, drawLaneNames} from "replay/entries.js";
import {drawLabels} from "replay/labels.js";
import {drawBands, drawLifelines, drawWaits} from "replay/lanes.js";
import {replicaColour} from "replay/layout.js";
import {drawEmphasis, drawInstant, drawNotes} from "replay/marks.js";
import {drawMessages} from "replay/messages.js";
import {drawClientNames, drawOperations} from "replay/operations.js";
import {tickTexts} from "replay/order.js";
import {canvas, recording, state} from "replay/state.js";
import {drawSteps} from "replay/steps.js";
import {drawVotes} from "replay/votes.js";
import {nameOf, timeText} from "replay/formatting.js";

const TICK_GAP = 6;  // pixels between the texts of two ticks

export function draw() {
  state.scheduled = false;
  state.written = [];
  const pen = canvas.getContext("2d");
  const ratio = canvas.width / state.width;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = state.colour.back;
  pen.fillRect(0, 0, state.width, state.height);
  pen.save();
  pen.beginPath();
  pen.rect(state.left, 0, state.width - state.left, state.height);
  pen.clip();
  drawTicks(pen);
  drawBands(pen);
  drawWaits(pen);
  drawLifelines(pen);
  drawVotes(pen);
  drawOperations(pen);
  drawEntries(pen);
  document.body.dataset.arrowsDrawn = drawMessages(pen);
  drawCurves(pen);
  drawNotes(pen);
  drawInstant(pen);
  drawEmphasis(pen);
  document.body.dataset.labelsDrawn = drawLabels(pen);
  drawSteps(pen);
  pen.restore();
  drawNames(pen);
  const [from, to] = state.x.domain();
  document.body.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
  canvas.ariaDescription = `From ${timeText(from)} to ${timeText(to)}`;
  if (!state.listing) document.body.dataset.settled = "yes";
}

export function redraw() {
  document.body.dataset.settled = "";
  if (state.scheduled) return;
  state.scheduled = true;
  requestAnimationFrame(draw);
}

function drawTicks(pen) {
  const ticks = state.x.ticks(Math.max(2, Math.floor((state.width - state.left) / 120)));
  pen.strokeStyle = state.colour.rule;
  pen.fillStyle = state.colour.quiet;
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "center";
  const texts = tickTexts(ticks);
  let free = state.left;
  pen.beginPath();
  ticks.forEach((tick, index) => {
    const at = Math.round(state.x(tick)) + 0.5;
    pen.moveTo(at, 16);
    pen.lineTo(at, state.height);
    // Whole, or not at all: one at an edge stands further inside.
    const half = pen.measureText(texts[index]).width / 2;
    const middle = Math.max(state.left + half + 2, Math.min(at, state.width - half - 2));
    if (middle - half < free) return;
    pen.fillText(texts[index], middle, 12);
    free = middle + half + TICK_GAP;
  });
  pen.stroke();
}

function drawNames(pen) {
  pen.fillStyle = state.colour.back;
  pen.fillRect(0, 0, state.left, state.height);
  pen.fillStyle = state.colour.ink;
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "left";
  if (state.clientLane) pen.fillText("clients", 6, state.clientLane.line + 4);
  state.lanes.forEach((lane, replica) => {
    pen.fillStyle = replicaColour(replica);
    pen.fillRect(0, lane.line - 7, 3, 14);
    pen.fillStyle = state.colour.ink;
    pen.fillText(state.left < 80 ? `rep. ${replica}` : nameOf(replica), 6, lane.line + 4);
  });
  pen.fillStyle = state.colour.quiet;
  pen.font = "11px system-ui, sans-serif";
  pen.fillText("history", 6, 27);
  drawLaneNames(pen);
  drawClientNames(pen);
  if (state.curve !== null) pen.fillText(recording.shows[state.curve].name, 6, state.curveTop + 12);
  pen.fillText(state.left < 80 ? "held" : "held bytes", 6, state.heldTop + 12);
}
