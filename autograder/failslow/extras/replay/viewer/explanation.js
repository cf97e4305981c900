// Steps through the explanation of the problem: the faulty step, and what led to it, backwards.

import {select} from "replay/details.js";
import {byId, state} from "replay/state.js";
import {show, showAround} from "replay/view.js";
import {timeText} from "replay/formatting.js";

const SPAN_MIN = 2e5;  // nanoseconds

// The part of an event's time that a reader wants to see.
function spanOf(event) {
  if (event.kind === "wait") return [event.over ?? event.start, event.over ?? event.start];
  return event.kind === "down" ? [event.start, event.start] : [event.start, event.end];
}

// All steps of the explanation, or the whole run if there is none.
export function showExplanation() {
  const spans = state.world.explanation.map(({event}) => spanOf(event));
  if (!spans.length) return show([state.world.begin, state.world.end]);
  showAround(d3.min(spans, (span) => span[0]), d3.max(spans, (span) => span[1]), 0.2, SPAN_MIN);
}

export function goToStep(index) {
  const steps = state.world.explanation;
  if (!steps.length) return;
  state.step = (index + steps.length) % steps.length;
  const {event} = steps[state.step];
  if (state.step === 0) showExplanation();
  else showAround(...spanOf(event), 2, SPAN_MIN);
  select(event);
  tellStep();
}

function tellStep() {
  const steps = state.world.explanation;
  byId("step").textContent = state.step < 0 ? ""
    : `${state.step + 1} of ${steps.length}: ${steps[state.step].why}`;
  for (const [index, item] of [...byId("steps").children].entries()) {
    item.firstChild.setAttribute("aria-current", index === state.step);
  }
  byId("problem-name").textContent = state.step < 0
    ? `First ${state.world.problem?.problem ?? "violation"}` : "Next step";
  document.body.dataset.step = state.step;
}

export function listSteps() {
  state.step = -1;
  byId("explanation").hidden = !state.world.explanation.length;
  byId("steps").replaceChildren(...state.world.explanation.map(({event, why}, index) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = why;
    button.addEventListener("click", () => goToStep(index));
    const words = document.createElement("p");
    const told = event.kind === "note" ? event.text
      : [event.what, event.text].filter(Boolean).join(": ");
    words.textContent = [timeText(event.start), event.where, told].filter(Boolean).join("  ");
    item.append(button, words);
    return item;
  }));
  tellStep();
}
