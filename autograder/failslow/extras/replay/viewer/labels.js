// Labels arrows with the message's method and fields, where there is room.

import {arrowOf, shownMessage} from "replay/layout.js";
import {state} from "replay/state.js";
import {badges} from "replay/steps.js";

const MESSAGES_MAX = 120;  // in view; of more, no label could be read
const WIDTH_MAX = 250;
const TALL = 13;
const PLACES = [0.5, 0.28, 0.72];  // along the arrow, the best first

// The number of labels. The selected message is labelled first.
export function drawLabels(pen) {
  const visible = state.world.messages.filter(shownMessage);
  if (visible.length > MESSAGES_MAX) return 0;
  visible.sort((a, b) => (b === state.selected) - (a === state.selected));
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "left";
  const taken = [...badges(), ...state.written];
  let drawn = 0;
  for (const message of visible) {
    const text = fitted(pen, labelOf(message), Math.min(WIDTH_MAX, state.width / 2));
    const box = placeOf(arrowOf(message), pen.measureText(text).width + 6, taken);
    if (!box) continue;
    taken.push(box);
    pen.globalAlpha = 0.85;
    pen.fillStyle = state.colour.back;
    pen.fillRect(box.x, box.y, box.wide, TALL);
    pen.globalAlpha = 1;
    pen.fillStyle = state.colour.ink;
    pen.fillText(text, box.x + 3, box.y + TALL - 3);
    ++drawn;
  }
  return drawn;
}

const labelOf = (message) => `${message.what.replace(" request", "")} ${message.text}`;

// The first place on the arrow whose box covers no other, no badge and no word; undefined if there is none.
function placeOf([x1, y1, x2, y2], wide, taken) {
  const free = (box) => box.x >= state.left && box.x + wide <= state.width && !taken.some((other) =>
    box.y < other.y + other.tall && other.y < box.y + TALL &&
    box.x < other.x + other.wide && other.x < box.x + wide);
  return PLACES
    .map((part) => ({
      x: x1 + (x2 - x1) * part - wide / 2, y: y1 + (y2 - y1) * part - TALL / 2, wide, tall: TALL,
    }))
    .find(free);
}

// The beginning of the text that is at most `width` pixels wide.
export function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let length = text.length - 1;
  while (length > 0 && pen.measureText(`${text.slice(0, length)}\u2026`).width > width) --length;
  return `${text.slice(0, length)}\u2026`;
}
