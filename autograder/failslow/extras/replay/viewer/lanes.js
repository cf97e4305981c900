// Draws each replica's lane: its fault bands, its waits and its line of life.

import {inView, waitTop} from "replay/layout.js";
import {WAIT_ROW, recording, state} from "replay/state.js";

const WORD = 10;  // pixels that a word is high
const MINIMAL_BAR = 0.6;  // pixels, so that the shortest event is visible

function bar(pen, event, top, tall) {
  const from = state.x(event.start);
  pen.fillRect(from, top, Math.max(MINIMAL_BAR, state.x(event.end) - from), tall);
}

// Writes words of a lane. No label of a message may cover them.
function write(pen, text, x, y) {
  pen.fillStyle = state.colour.ink;
  pen.fillText(text, x, y);
  state.written.push({x, y: y - WORD, wide: pen.measureText(text).width, tall: WORD});
}

// Names bands below their lanes: each where its band begins, or behind the names before it. One
// that does not fit its band is left out.
function nameBands(pen, bands) {
  const free = state.lanes.map(() => state.left);
  for (const [text, {start, end}, replica] of d3.sort(bands, ([, band]) => band.start)) {
    const at = Math.max(free[replica], state.x(start)) + 4;
    const over = at + pen.measureText(text).width;
    if (over > Math.min(state.width, state.x(end))) continue;
    write(pen, text, at, state.lanes[replica].bottom + 4);
    free[replica] = over + 4;
  }
}

export function drawBands(pen) {
  pen.textAlign = "left";
  pen.font = "10px system-ui, sans-serif";
  const named = [];
  for (const fault of state.world.faults.filter(inView)) {
    if (fault.fault === "crash") continue;  // shown as what it does
    for (const replica of fault.replicas) {
      const lane = state.lanes[replica];
      if (!lane) continue;
      pen.fillStyle = state.colour.fault;
      bar(pen, fault, lane.top - 6, lane.bottom - lane.top + 12);
      pen.fillStyle = state.colour["fault-edge"];
      const edges = fault.over === null ? [fault.start] : [fault.start, fault.end];
      for (const edge of edges) {
        pen.fillRect(state.x(edge) - 0.75, lane.top - 6, 1.5, lane.bottom - lane.top + 12);
      }
      named.push([fault.fault, fault, replica]);
    }
  }
  for (const down of state.world.downs.filter(inView)) {
    const lane = state.lanes[down.replica];
    pen.fillStyle = state.colour.down;
    bar(pen, down, lane.top - 6, lane.bottom - lane.top + 12);
    named.push(["down", down, down.replica]);
  }
  nameBands(pen, named);
}

export function drawWaits(pen) {
  for (const wait of state.world.waits) {
    if (!inView(wait)) continue;
    pen.fillStyle = wait.total > 1 ? state.colour.quorum : state.colour.wait;
    bar(pen, wait, waitTop(wait), WAIT_ROW - 1);
  }
  pen.fillStyle = state.colour["quorum-mark"];
  for (const wait of state.world.waits) {
    if (wait.total <= 1 || wait.outcome !== "ready" || !inView(wait)) continue;
    const at = state.x(wait.end);
    const middle = waitTop(wait) + 2;
    pen.beginPath();
    pen.moveTo(at - 3.5, middle);
    pen.lineTo(at, middle - 3.5);
    pen.lineTo(at + 3.5, middle);
    pen.lineTo(at, middle + 3.5);
    pen.fill();
  }
}

// Draws the first observation that has words. The last of its words is the thickest line.
export function drawLifelines(pen) {
  pen.textAlign = "left";
  pen.font = "10px system-ui, sans-serif";
  if (state.clientLane) line(pen, state.clientLane.line, state.x.domain(), 1.5, state.colour.lane);
  const role = recording.shows.findIndex((shown) => shown.words.length > 0);
  state.lanes.forEach((lane, replica) => {
    line(pen, lane.line, state.x.domain(), 1.5, state.colour.lane);
    if (role < 0) return;
    const words = recording.shows[role].words;
    const steps = state.world.shown[role].filter((row) => row[1] === replica);
    steps.forEach(([when, , value], index) => {
      const died = state.world.downs.find((down) => down.replica === replica && down.start >= when);
      const whole = state.world.end;
      const end = Math.min(steps[index + 1]?.[0] ?? whole, died?.start ?? whole);
      if (!inView({start: when, end})) return;
      if (value > 0) line(pen, lane.line, [when, end], 1.5 + 2 * value, state.colour.leader);
      if (value > 0 && state.x(end) - state.x(when) > 50) {
        write(pen, words[value] ?? value, Math.max(state.left, state.x(when)) + 4, lane.line - 6);
      }
    });
  });
}

function line(pen, at, [from, to], thickness, stroke) {
  pen.strokeStyle = stroke;
  pen.lineWidth = thickness;
  pen.beginPath();
  pen.moveTo(state.x(from), at);
  pen.lineTo(state.x(to), at);
  pen.stroke();
  pen.lineWidth = 1;
}
