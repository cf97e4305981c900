// Describes the selection in words, and lists the events in view.

import {redraw} from "replay/draw.js";
import {inView} from "replay/layout.js";
import {remember} from "replay/link.js";
import {byId, state} from "replay/state.js";
import {goTo} from "replay/view.js";
import {bytesText, nameOf, spanText, timeText} from "replay/formatting.js";

const EVENTS_MAX = 200;

export function select(event) {
  state.selected = event;
  const panel = byId("selected");
  panel.hidden = !event;
  panel.replaceChildren();
  if (event) describe(event, panel);
  if (event) remember(event);
  document.body.dataset.selected = event ? `${event.kind} ${event.id ?? event.text}` : "";
  listEvents();
  redraw();
}

const FATES = {
  arrived: "arrived", lost: "lost", released: "taken back by its sender", sent: "still under way",
};

// Pairs of a name and a value, in the order in which a reader wants them.
function factsOf(event) {
  if (event.kind === "curve") return event.facts;
  const facts = [["time", timeText(event.start)]];
  if (event.where) facts.push(["where", event.where]);
  if (event.kind === "message") facts.push(...factsOfMessage(event));
  else if (event.kind === "wait") facts.push(...factsOfWait(event));
  else if (event.kind === "entry") facts.push(...factsOfEntry(event));
  else if (event.kind === "operation") facts.push(...factsOfOperation(event));
  else if (event.kind === "fault") facts.push(["ends", endOf(event)]);
  else if (!["note", "mark"].includes(event.kind)) {
    facts.push(["lasts", spanText(event.end - event.start)]);
  }
  return facts;
}

function factsOfMessage(message) {
  const {start, wire, over, read} = message;
  const fate = FATES[message.fate];
  const facts = [["fate", over === null ? fate : `${fate} after ${spanText(over - start)}`]];
  if (wire !== null && wire > start) {
    facts.push(["held", `${spanText(wire - start)} by its sender`]);
  }
  if (read !== null && read > over) {
    facts.push(["read", `${spanText(read - over)} after it arrived`]);
  }
  if (message.again) facts.push(["copy", "made by the network"]);
  facts.push(["call", message.call], ["for", message.dependency]);
  facts.push(["size", bytesText(message.bytes)]);
  return facts;
}

function factsOfWait(wait) {
  const facts = [["on", wait.event], ["needs", `${wait.needed} of ${wait.total}`]];
  if (wait.peers) facts.push(["peers", wait.peers]);
  const {start, over} = wait;
  const lasts = over === null ? "to the end of the recording" : spanText(over - start);
  facts.push(["lasts", lasts]);
  if (wait.outcome) facts.push(["ends", `${wait.outcome}: ${wait.atEnd}`]);
  return facts;
}

function endOf({start, over}) {
  return over === null ? "never in this run" : `${timeText(over)}, after ${spanText(over - start)}`;
}

function factsOfOperation({start, over}) {
  return [["lasts", over === null ? "it got no answer" : spanText(over - start)]];
}

function factsOfEntry(entry) {
  const times = (by) => Object.entries(by)
    .map(([replica, when]) => `${nameOf(Number(replica))} at ${timeText(when)}`).join(", ");
  const facts = [["decided", times(entry.decided) || "nowhere"]];
  facts.push(["ran", times(entry.ran) || "nowhere"]);
  if (entry.cycle) facts.push(["cycle", `with ${entry.before.what}`]);
  return facts;
}

export function describe(event, into) {
  const title = document.createElement("b");
  title.textContent = event.what;
  const facts = document.createElement("dl");
  facts.className = "facts";
  for (const [name, value] of factsOf(event)) {
    const dt = document.createElement("dt");
    const dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    facts.append(dt, dd);
  }
  into.append(title, facts);
  if (event.text !== undefined && event.kind !== "wait") {
    const text = document.createElement("pre");
    text.textContent = event.text;
    into.append(text);
  }
  if (event.kind === "message" && into === byId("selected")) into.append(...relatives(event));
}

// Buttons that lead to the call's other messages.
function relatives(message) {
  const pair = [message.from, message.to];
  const others = state.world.messages.filter((other) => other !== message &&
    other.call === message.call && pair.includes(other.from) && pair.includes(other.to));
  return others.slice(0, 6).map((other) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${other.what} at ${timeText(other.start)}`;
    button.addEventListener("click", () => {
      goTo(other);
      select(other);
    });
    return button;
  });
}

export function listEvents() {
  clearTimeout(state.listing);
  state.listing = 0;
  const visible = state.world.events.filter(
    (event) => inView(event) && (event.kind !== "message" || !state.hidden.has(event.type)));
  const body = byId("events").tBodies[0];
  const before = state.selected ? visible.indexOf(state.selected) - EVENTS_MAX / 2 : 0;
  const first = Math.max(0, Math.min(before, visible.length - EVENTS_MAX));
  body.replaceChildren(...visible.slice(first, first + EVENTS_MAX).map(rowOf));
  const all = visible.length.toLocaleString("en");
  const which = first > 0 ? "around the chosen one" : "the first";
  byId("in-view").textContent = visible.length > EVENTS_MAX
    ? `${all} events. These are ${EVENTS_MAX} of them, ${which}: zoom in to see fewer.`
    : `${all} events`;
  document.body.dataset.eventsInView = visible.length;
  if (!state.scheduled) document.body.dataset.settled = "yes";
}

function rowOf(event) {
  const row = document.createElement("tr");
  if (event.problem) row.classList.add("problem");
  if (event === state.selected) row.classList.add("is-selected");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = timeText(event.start);
  button.addEventListener("click", () => {
    select(event);
    byId("events").querySelector(".is-selected button").focus();
  });
  row.insertCell().append(button);
  for (const text of [event.what, event.where, event.text]) row.insertCell().textContent = text;
  return row;
}
