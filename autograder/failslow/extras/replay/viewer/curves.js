// Draws the step curves below the lanes, and gives their values at a point.

import {replicaColour} from "replay/layout.js";
import {CURVE, recording, state} from "replay/state.js";
import {bytesText, nameOf} from "replay/formatting.js";

export function drawCurves(pen) {
  if (state.curve !== null) {
    if (recording.shows[state.curve].figure) drawFigures(pen);
    else {
      const rows = state.world.shown[state.curve].map(
        ([when, replica, value]) => ({when, key: replica, value}));
      drawPanel(pen, state.curveTop, rows, String, (replica) => replica);
    }
  }
  const key = (from, to) => from * 10000 + to;
  const rows = state.world.held.map(
    ([when, from, to, bytes]) => ({when, key: key(from, to), value: bytes}));
  drawPanel(pen, state.heldTop, rows, bytesText, (both) => Math.floor(both / 10000));
}

// The measured values, and dashed their thresholds: the values give the scale.
function drawFigures(pen) {
  const figures = state.world.figures[state.curve];
  const rows = (place) => figures.map((row) => ({when: row[0], key: row[1], value: row[place]}));
  const values = rows(2);
  const most = d3.max(values, (row) => row.value) ?? 1;
  pen.save();
  pen.beginPath();
  pen.rect(0, state.curveTop, state.width, CURVE + 1);
  pen.clip();
  drawPanel(pen, state.curveTop, values, millisecondsText, (replica) => replica, most);
  pen.setLineDash([3, 3]);
  drawPanel(pen, state.curveTop, rows(3), () => "", (replica) => replica, most);
  pen.restore();
}

// Step curves, one for each key; `replicaOf` a key gives the colour. The scale ends at `most`.
function drawPanel(pen, top, rows, text, replicaOf, most = d3.max(rows, (row) => row.value)) {
  const [from, to] = state.x.domain();
  const y = d3.scaleLinear([0, Math.max(1, most ?? 1)], [top + CURVE, top + 6]).nice();
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

const millisecondsText = (us) => `${(us / 1000).toFixed(2)} ms`;

function figureWords(row) {
  if (!row) return "";
  const [, , value, threshold] = row;
  const sign = value > threshold ? ">" : "\u2264";
  return `: ${(value / 1000).toFixed(2)} ${sign} ${millisecondsText(threshold)}`;
}

export function curveWords(px, py) {
  const when = state.x.invert(px);
  const at = (rows) => rows.filter((row) => row[0] <= when);
  if (state.curve !== null && py > state.curveTop && py < state.curveTop + CURVE) {
    const latestOf = (rows) => d3.rollup(at(rows), (all) => all.at(-1), (row) => row[1]);
    const figures = latestOf(state.world.figures[state.curve]);
    const words = recording.shows[state.curve].words;
    return [...latestOf(state.world.shown[state.curve])].sort((a, b) => a[0] - b[0])
      .map(([replica, [, , value]]) =>
        [nameOf(replica), `${words[value] ?? value}${figureWords(figures.get(replica))}`]);
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
