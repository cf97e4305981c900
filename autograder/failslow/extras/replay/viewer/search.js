// Search in contents, and the filter by message type.

import {listEvents, select} from "replay/details.js";
import {redraw} from "replay/draw.js";
import {layOut} from "replay/layout.js";
import {byId, state} from "replay/state.js";
import {goTo} from "replay/view.js";

export function search() {
  const wanted = byId("search").value.trim().toLowerCase();
  state.matches = wanted ? state.world.events.filter((event) => event.found.includes(wanted)) : [];
  state.match = -1;
  tellMatches(wanted);
  redraw();
}

function tellMatches(wanted) {
  const count = state.matches.length.toLocaleString("en");
  byId("matches").textContent = !wanted ? "" : !state.matches.length ? "nothing found"
    : state.match < 0 ? `${count} found` : `${state.match + 1} of ${count}`;
  document.body.dataset.matches = state.matches.length;
}

export function step(by) {
  if (!state.matches.length) return;
  const count = state.matches.length;
  const from = state.match < 0 && by < 0 ? 0 : state.match;
  state.match = (from + by + count) % count;
  tellMatches(true);
  goTo(state.matches[state.match]);
  select(state.matches[state.match]);
}

export function offerTypes() {
  const counts = d3.rollup(state.world.messages, (all) => all.length, (message) => message.type);
  const legend = byId("types").querySelector("legend");
  byId("types").replaceChildren(legend, ...state.world.types.map((name, type) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !state.hidden.has(type);
    box.dataset.type = name;
    box.addEventListener("change", () => {
      state.hidden[box.checked ? "delete" : "add"](type);
      layOut();  // by order, hidden messages take no room
      listEvents();
      redraw();
    });
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = state.typeColours[type];
    label.append(box, swatch, `${name} (${counts.get(type).toLocaleString("en")})`);
    return label;
  }));
}
