// Draws the step curves below the lanes, and gives their values at a point.

import {replicaColour} from "replay/layout.js";
import {CURVE, recording, state} from "replay/state.js";
import {bytesText, nameOf} from "replay/formatting.js";

export function drawCurves(pen) {
  if (state.curve !== null) {
    const rows = state.world.shown[state.curve].map(
      ([when, replica, value]) => ({when, key: replica, value}));
    drawPanel(pen, state.curveTop, rows, String, (replica) => replica);
  }
  const key = (from, to) => from * 10000 + to;
  const rows = state.world.held.map(
    ([when, from, to, bytes]) => ({when, key: key(from, to), value: bytes}));
  drawPanel(pen, state.heldTop, rows, bytesText, (both) => Math.floor(both / 10000));
}

// Step curves, one for each key; `replicaOf` a key gives the colour.
function drawPanel(pen, top, rows, text, replicaOf) {
  const [from, to] = state.x.domain();
  const y = d3.scaleLinear([0, Math.max(1, d3.max(rows, (row) => row.value) ?? 1)],
    [top + CURVE, top + 6]).nice();
  pen.strokeStyle = state.colour.rule;
  pen.strokeRect(state.left + 0.5, top + 0.5, state.width - state.left - 12, CURVE);
  pen.fillStyle = state.colour.quiet;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillText(rows.length ? text(y.domain()[1]) : "none", state.left + 4, top + 12);
  for (const [key, steps] of d3.group(rows, (row) => row.key)) {
    pen.strokeStyle = replicaColour(replicaOf(key));
    pen.lineWidth = 1.5;
    pen.beginPath();
    let value = 0;
    pen.moveTo(state.x(from), y(0));
    for (const step of steps) {
      if (step.when > to) break;
      if (step.when >= from) {
        pen.lineTo(state.x(step.when), y(value));
        pen.lineTo(state.x(step.when), y(step.value));
      } else {
        pen.moveTo(state.x(from), y(step.value));
      }
      value = step.value;
    }
    pen.lineTo(state.x(Math.min(to, state.world.end)), y(value));
    pen.stroke();
    pen.lineWidth = 1;
  }
}

export function curveWords(px, py) {
  const when = state.x.invert(px);
  const at = (rows) => rows.filter((row) => row[0] <= when);
  if (state.curve !== null && py > state.curveTop && py < state.curveTop + CURVE) {
    const latest = d3.rollup(
      at(state.world.shown[state.curve]), (all) => all.at(-1)[2], (row) => row[1]);
    const words = recording.shows[state.curve].words;
    return [...latest].sort((a, b) => a[0] - b[0])
      .map(([replica, value]) => [nameOf(replica), String(words[value] ?? value)]);
  }
  if (py > state.heldTop && py < state.heldTop + CURVE) {
    const latest = d3.rollup(at(state.world.held), (all) => all.at(-1)[3],
      (row) => `${nameOf(row[1])} for ${row[2]}`);
    const held = [...latest].filter(([, bytes]) => bytes > 0)
      .map(([pair, bytes]) => [pair, bytesText(bytes)]);
    return held.length ? held : [["held bytes", "none"]];
  }
  return null;
}
