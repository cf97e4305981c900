// The two ways of placing instants from left to right: by time, or by the order of events.
//
// In order, each instant at which a shown message leaves or arrives, or something else happens, is
// one step from the next, however long nothing happened between them. So an effect is to the right
// of its causes, as in the diagrams of ShiViz and Maelstrom. A position is a time in nanoseconds,
// or the number of such an instant.

import {state} from "replay/state.js";
import {timeText} from "replay/formatting.js";

// The instants in order; null to place by time.
export function instantsOf(world) {
  const messages = world.messages.filter((message) => !state.hidden.has(message.type));
  const others = [
    ...world.notes, ...world.faults, ...world.downs, ...world.operations, ...world.marks];
  const instants = [...messages, ...others].flatMap(({start, end}) => [start, end]);
  const within = instants.filter((time) => time >= world.begin && time <= world.end);
  return d3.sort(new Set([world.begin, ...within, world.end]));
}

export function positionOf(time) {
  const instants = state.instants;
  if (!instants) return time;
  const index = Math.max(0, Math.min(d3.bisectRight(instants, time) - 1, instants.length - 2));
  return index + (time - instants[index]) / (instants[index + 1] - instants[index]);
}

function timeAt(position) {
  const instants = state.instants;
  if (!instants) return position;
  const index = Math.max(0, Math.min(Math.floor(position), instants.length - 2));
  return instants[index] + (position - index) * (instants[index + 1] - instants[index]);
}

// From times to pixels, by a linear scale of positions.
export function scaleOf(linear) {
  const scale = (time) => linear(positionOf(time));
  scale.positions = () => linear.domain();
  scale.domain = () => linear.domain().map(timeAt);
  scale.invert = (pixel) => timeAt(linear.invert(pixel));
  scale.ticks = (count) => linear.ticks(count)
    .filter((position) => !state.instants || Number.isInteger(position)).map(timeAt);
  return scale;
}

export function tickTexts(ticks) {
  if (state.instants || ticks.length < 2) return ticks.map(timeText);
  const digits = Math.max(0, Math.min(9,
    Math.ceil(-Math.log10((ticks[1] - ticks[0]) / 1e9))));
  return ticks.map((tick) => `${(tick / 1e9).toFixed(digits)} s`);
}
