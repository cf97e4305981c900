// Draws messages as arrows from lane to lane.

import {arrowOf, shownMessage} from "replay/layout.js";
import {state} from "replay/state.js";

const ARROWHEADS_MAX = 2500;

export function drawMessages(pen) {
  const visible = state.world.messages.filter(shownMessage);
  pen.globalAlpha = Math.max(0.12, Math.min(1, 1500 / (visible.length + 1)));
  const heads = visible.length <= ARROWHEADS_MAX;
  for (const [type, messages] of d3.group(visible, (message) => message.type)) {
    pen.strokeStyle = pen.fillStyle = state.typeColours[type];
    pen.setLineDash(messages[0].reply ? [4, 3] : []);
    pen.beginPath();
    for (const message of messages) {
      const [x1, y1, x2, y2] = arrowOf(message);
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
    }
    pen.stroke();
    pen.setLineDash([]);
    if (heads) for (const message of messages) drawHead(pen, arrowOf(message), message);
  }
  pen.globalAlpha = 1;
  return visible.length;
}

export function drawHead(pen, [x1, y1, x2, y2], message) {
  if (message.fate === "lost") {
    const before = pen.strokeStyle;
    pen.strokeStyle = state.colour.problem;
    pen.beginPath();
    pen.moveTo(x2 - 3, y2 - 3);
    pen.lineTo(x2 + 3, y2 + 3);
    pen.moveTo(x2 - 3, y2 + 3);
    pen.lineTo(x2 + 3, y2 - 3);
    pen.stroke();
    pen.strokeStyle = before;
  } else if (message.fate === "released") {
    pen.beginPath();
    pen.arc(x2, y2, 3, 0, 2 * Math.PI);
    pen.stroke();
  } else if (message.fate === "arrived") {
    const angle = Math.atan2(y2 - y1, x2 - x1);
    pen.beginPath();
    pen.moveTo(x2, y2);
    for (const turn of [-0.4, 0.4]) {
      pen.lineTo(x2 - 7 * Math.cos(angle + turn), y2 - 7 * Math.sin(angle + turn));
    }
    pen.fill();
  }
}
