// Draws the operations of a window that is not linearizable, one lane for each client.

import {inView} from "replay/layout.js";
import {fitted} from "replay/labels.js";
import {OPERATION, state} from "replay/state.js";

export function drawOperations(pen) {
  pen.textAlign = "left";
  for (const operation of state.world.operations.filter(inView)) {
    const [from, top, wide] = boxOf(operation);
    pen.fillStyle = operation.marked ? state.colour.problem : state.colour.wait;
    pen.fillRect(from, top + 12, wide, 4);
    pen.fillRect(from, top + 9, 1.5, 10);
    if (operation.over !== null) pen.fillRect(from + wide - 1.5, top + 9, 1.5, 10);
    pen.font = `${operation.marked ? "bold " : ""}10px system-ui, sans-serif`;
    pen.fillStyle = operation.marked ? state.colour.problem : state.colour.ink;
    const begin = Math.max(from, state.left + 3);
    const room = Math.max(wide - (begin - from), nextStart(operation) - begin - 6);
    pen.fillText(fitted(pen, `${operation.what} \u2192 ${operation.text}`, room), begin, top + 7);
  }
}

// Where the client's next operation begins: so far, there is room for words.
function nextStart(operation) {
  const later = state.world.operations.filter(
    (other) => other.client === operation.client && other.start > operation.start);
  return later.length ? state.x(d3.min(later, (other) => other.start)) : state.width;
}

export function boxOf(operation) {
  const from = state.x(operation.start);
  return [from, state.operationTops.get(operation.client),
    Math.max(3, state.x(operation.end) - from), OPERATION];
}

export function drawClientNames(pen) {
  for (const [client, top] of state.operationTops) pen.fillText(`client ${client}`, 6, top + 17);
}
