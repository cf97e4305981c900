// Connects keys and buttons, and opens the first cluster.

import {listEvents, select} from "replay/details.js";
import {draw, redraw} from "replay/draw.js";
import {goToStep, listSteps, showExplanation} from "replay/explanation.js";
import {layOut, readColours} from "replay/layout.js";
import {goToInstant, linked} from "replay/link.js";
import {load} from "replay/model.js";
import {scaleOf} from "replay/order.js";
import {hover, under} from "replay/pointing.js";
import {offerTypes, search, step} from "replay/search.js";
import {byId, canvas, recording, state, tip, zoom} from "replay/state.js";
import {pan, scaleBy, show} from "replay/view.js";
import {timeText} from "replay/formatting.js";

const LIST_AFTER_MS = 120;
const started = performance.now();

const ACTIONS = {
  ArrowLeft: () => pan(-0.2),
  ArrowRight: () => pan(0.2),
  "+": () => scaleBy(1.6),
  "=": () => scaleBy(1.6),
  "-": () => scaleBy(1 / 1.6),
  "/": () => byId("search").focus(),
  n: () => step(1),
  N: () => step(-1),
  o: placeOtherwise,
  f: () => show([state.world.begin, state.world.end]),
  v: () => goToStep(state.step + 1),
  V: () => goToStep(state.step < 0 ? -1 : state.step - 1),
  Escape: () => select(null),
};

// By order instead of by time, or the other way round.
function placeOtherwise() {
  state.ordered = !state.ordered;
  byId("order").setAttribute("aria-pressed", state.ordered);
  document.body.dataset.ordered = state.ordered;
  layOut();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input[type=search], select")) {
    if (event.key === "Escape") canvas.focus();
    if (event.key === "Enter" && event.target === byId("search")) step(event.shiftKey ? -1 : 1);
    return;
  }
  const action = ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function connect() {
  document.addEventListener("keydown", onKey);
  byId("search").addEventListener("input", search);
  byId("next").addEventListener("click", () => step(1));
  byId("previous").addEventListener("click", () => step(-1));
  byId("problem").addEventListener("click", ACTIONS.v);
  byId("order").addEventListener("click", placeOtherwise);
  window.addEventListener("hashchange", followAddress);
  byId("fit").addEventListener("click", ACTIONS.f);
  byId("closer").addEventListener("click", ACTIONS["+"]);
  byId("wider").addEventListener("click", ACTIONS["-"]);
  byId("world").addEventListener("change", (event) => open(Number(event.target.value)));
  byId("curve").addEventListener("change", (event) => {
    state.curve = Number(event.target.value);
    redraw();
  });
  const pointed = d3.select(canvas).call(zoom);
  pointed.on("mousemove.tip", hover).on("mouseleave.tip", () => {
    state.hovered = null;
    tip.hidden = true;
    redraw();
  });
  pointed.on("click.tip", (event) => select(under(...d3.pointer(event, canvas))));
  zoom.on("zoom", ({transform}) => {
    state.x = scaleOf(transform.rescaleX(state.base));
    redraw();
    clearTimeout(state.listing);
    state.listing = setTimeout(listEvents, LIST_AFTER_MS);
  });
  new ResizeObserver(() => {
    if (byId("stage").clientWidth !== state.width) layOut();
  }).observe(byId("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    redraw();
  });
}

function option(value, text) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = text;
  return made;
}

function offerChoices() {
  const count = recording.worlds.length;
  byId("world-label").hidden = count < 2;
  byId("world").append(...d3.range(count).map((index) => option(index, index + 1)));
  byId("world").value = recording.begin;
  const shows = recording.shows;
  const preferred = shows.findIndex((shown) => ["commit", "applied"].includes(shown.name));
  state.curve = shows.length ? Math.max(0, preferred) : null;
  byId("curve").append(...shows.map((shown, index) => option(index, shown.name)));
  byId("curve").parentNode.hidden = !shows.length;
  if (state.curve !== null) byId("curve").value = state.curve;
  byId("failures").hidden = recording.passed;
}

function leftOutWords(world) {
  return `${world.left_out.toLocaleString("en")} messages are left out: the recording is shown ` +
    `from ${timeText(world.begin)} to ${timeText(world.end)}. The trace has all.`;
}

function open(index) {
  state.recorded = recording.worlds[index];
  state.world = load(state.recorded);
  byId("world").value = index;
  state.hidden = new Set();
  state.x = null;
  state.instant = null;
  readColours();
  offerTypes();
  search();
  layOut();
  showExplanation();
  select(null);
  listSteps();
  byId("problem").disabled = !state.world.explanation.length;
  for (const kind of ["entries", "marks"]) {
    for (const words of document.querySelectorAll(`.of-${kind}`)) {
      words.hidden = !state.world[kind].length;
    }
  }
  byId("slowness").hidden = !state.world.slowness;
  byId("slowness-graph").innerHTML = state.world.slowness;
  byId("left-out").hidden = !state.world.left_out;
  byId("left-out").textContent = leftOutWords(state.world);
}

// At the instant that the address names, if it names one.
function followAddress() {
  const instant = linked();
  if (instant instanceof Error) {
    byId("step").textContent = `The address is wrong: ${instant.message}.`;
  } else if (instant) {
    if (recording.worlds[instant.cluster] !== state.recorded) open(instant.cluster);
    goToInstant(instant.time);
  }
}

offerChoices();
connect();
open(recording.begin);
followAddress();
draw();
document.body.dataset.firstDrawMs = Math.round(performance.now() - started);
