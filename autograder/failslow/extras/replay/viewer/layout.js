// The place and the colour of each thing on the canvas.

import {instantsOf, positionOf} from "replay/order.js";
import {
  CURVE, ENTRY, ENTRY_ROWS, GAP, OPERATION, ROUNDING, TOP, WAIT_ROW, WAIT_ROWS_MAX, byId, canvas,
  recording, state, zoom,
} from "replay/state.js";
import {ZOOM_MAX, show} from "replay/view.js";

export function layOut() {
  state.width = Math.max(280, byId("stage").clientWidth);
  state.left = state.width < 640 ? 64 : 92;
  const rows = d3.rollup(state.world.waits, (all) => d3.max(all, (wait) => wait.row) + 1,
    (wait) => wait.replica);
  let top = TOP;
  state.clientLane = null;
  if (state.world.messages.some((m) => Math.max(m.from, m.to) >= recording.firstClient)) {
    state.clientLane = {top, line: top + 14, bottom: top + 34};
    top += 48;
  }
  state.lanes = d3.range(state.world.replicas).map((replica) => {
    const count = Math.min(rows.get(replica) ?? 0, WAIT_ROWS_MAX);
    const lane = {top, line: top + 16, rows: count, bottom: top + 30 + count * WAIT_ROW};
    top = lane.bottom + GAP + 8;
    return lane;
  });
  const clients = d3.sort(new Set(state.world.operations.map((operation) => operation.client)));
  state.operationTops = new Map(clients.map((client, index) => [client, top + index * OPERATION]));
  if (clients.length) top += clients.length * OPERATION + GAP;
  state.entryTops = state.world.entries.length ? recording.lanes.map(() => {
    top += ENTRY_ROWS * ENTRY + GAP;
    return top - ENTRY_ROWS * ENTRY;
  }) : [];
  state.curveTop = top + GAP;
  state.heldTop = state.curve === null ? state.curveTop : state.curveTop + CURVE + GAP + 8;
  state.height = state.heldTop + CURVE + 16;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(state.width * ratio);
  canvas.height = Math.round(state.height * ratio);
  canvas.style.height = `${state.height}px`;
  const view = state.x?.domain() ?? [state.world.begin, state.world.end];
  state.instants = state.ordered ? instantsOf(state.world) : null;
  state.base = d3.scaleLinear([state.world.begin, state.world.end].map(positionOf),
    [state.left, state.width - 12]);
  const extent = [[state.left, 0], [state.width - 12, state.height]];
  zoom.extent(extent).translateExtent(extent).scaleExtent([1, ZOOM_MAX]);
  show(view);
}

export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["back", "ink", "quiet", "rule", "panel", "lane", "down", "fault",
    "fault-edge", "wait", "quorum", "quorum-mark", "problem", "match", "focus", "leader"];
  state.colour = Object.fromEntries(
    names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const methods = [...new Set(state.world.types.map((type) => type.split(" ")[0]))];
  state.typeColours = state.world.types.map(
    (type) => d3.schemeTableau10[methods.indexOf(type.split(" ")[0]) % 10]);
}

const isClient = (node) => node >= recording.firstClient;
const lineOf = (node) => (isClient(node) ? state.clientLane : state.lanes[node]).line;

export const inView = (event) => {
  const [from, to] = state.x.domain();
  return event.end >= from - ROUNDING && event.start <= to + ROUNDING;
};

export function waitTop(wait) {
  return state.lanes[wait.replica].line + 12 + Math.min(wait.row, WAIT_ROWS_MAX - 1) * WAIT_ROW;
}

export const entryTop = (entry) =>
  state.entryTops[entry.lane] + entry.index % ENTRY_ROWS * ENTRY;

// The beginning and the end of a message's arrow. The arrow of a message that does not arrive ends
// on the way.
export function arrowOf(message) {
  const from = lineOf(message.from);
  const to = lineOf(message.to);
  const part = message.fate === "arrived" ? 1 : message.wire === null ? 0.12 : 0.6;
  const ends = message.fate === "sent" && message.wire === null ? message.start : message.end;
  const begins = state.x(message.start);
  return [begins, from, begins + (state.x(ends) - begins), from + (to - from) * part];
}

// The point of an event at which a mark of it stands.
export function anchorOf(event) {
  const at = state.x(event.start);
  if (event.kind === "message") {
    const [x1, y1, x2, y2] = arrowOf(event);
    return [x1 + (x2 - x1) * 0.15, y1 + (y2 - y1) * 0.15];
  }
  if (event.kind === "wait") return [state.x(event.over ?? event.start), waitTop(event) + 2];
  if (event.kind === "operation") return [at - 10, state.operationTops.get(event.client) + 14];
  return event.kind === "note" ? [at, 23] : [at, state.lanes[event.replica].line - 14];
}

export const shownMessage = (message) => !state.hidden.has(message.type) && inView(message);
export const replicaColour = (replica) => d3.schemeTableau10[(replica + 3) % 10];
