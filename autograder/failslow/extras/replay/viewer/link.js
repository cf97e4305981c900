// The address names an instant of the run: #t=3.53, in seconds; of several clusters, &cluster=2.

import {byId, recording, state} from "replay/state.js";
import {goTo} from "replay/view.js";

// {time, cluster}: nanoseconds and an index; null without an instant in the address. An Error if
// the address names none of this recording.
export function linked() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  if (!parameters.has("t")) return null;
  const [t, cluster] = [parameters.get("t"), parameters.get("cluster") ?? recording.begin + 1];
  if (!/^\d+(\.\d+)?$/.test(t)) return new Error(`t=${t} is no time in seconds`);
  const world = recording.worlds[cluster - 1];
  if (!world) return new Error(`there is no cluster ${cluster}`);
  const time = Math.round(Number(t) * 1e9);
  const ends = Math.max(world.end, world.begin + 1);
  return time >= world.begin && time <= ends ? {time, cluster: cluster - 1}
    : new Error(`t=${t} is outside of ${seconds(world.begin)} to ${seconds(ends)} s`);
}

const seconds = (ns) => String(ns / 1e9);

// Requires: its cluster is shown.
export function goToInstant(time) {
  state.instant = time;
  goTo({kind: "instant", start: time, end: time});
}

// A reader copies the address to show somebody this event.
export function remember(event) {
  const cluster = recording.worlds.length > 1 ? `&cluster=${Number(byId("world").value) + 1}` : "";
  history.replaceState(null, "", `#t=${seconds(event.start)}${cluster}`);
}
