// Draws the steps of the explanation: a numbered badge at each, and a line from each to its cause.

import {anchorOf} from "replay/layout.js";
import {state} from "replay/state.js";

const RADIUS = 8;

// A badge of something in view is whole.
function anchorsOf() {
  const whole = (x) => Math.max(state.left + RADIUS, Math.min(x, state.width - RADIUS));
  return state.world.explanation.map(({event}) => {
    const [x, y] = anchorOf(event);
    return [x < state.left || x > state.width ? x : whole(x), y];
  });
}

// Events below the badges.
export const badges = () => anchorsOf().map(([x, y]) => (
  {x: x - RADIUS, y: y - RADIUS, wide: 2 * RADIUS, tall: 2 * RADIUS}));

export function drawSteps(pen) {
  const anchors = anchorsOf();
  pen.strokeStyle = state.colour.problem;
  pen.setLineDash([1, 4]);
  pen.beginPath();
  anchors.forEach(([x, y], index) => pen[index ? "lineTo" : "moveTo"](x, y));
  pen.stroke();
  pen.setLineDash([]);
  pen.font = "bold 10px system-ui, sans-serif";
  pen.textAlign = "center";
  anchors.map((anchor, index) => [...anchor, index]).reverse().forEach(([x, y, index]) => {
    pen.fillStyle = index === state.step ? state.colour.focus : state.colour.problem;
    pen.beginPath();
    pen.arc(x, y, RADIUS, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = state.colour.back;
    pen.fillText(index + 1, x, y + 3.5);
  });
}
