// A cluster's recording: its rows of plain values become events with names.

import {ENTRY_ROWS} from "replay/state.js";
import {entryName, nameOf} from "replay/formatting.js";

// An event is {kind, start, end, where, what, text} and the fields of its kind.
export function load(world) {
  const begin = world.begin;
  const end = Math.max(world.end, begin + 1);
  const messages = world.messages.map(([id, from, to, sent, wire, over, read, fate, type, call,
    dependency, bytes, body, again]) => ({
    kind: "message", id, from, to, start: sent, end: over ?? end, wire, over, read, fate, type,
    call, dependency, bytes, body, again, what: world.types[type],
    reply: !world.types[type].endsWith("request"),
    where: `${nameOf(from)} \u2192 ${nameOf(to)}`, text: body,
  }));
  const waits = world.waits.map(([replica, row, start, over, name, label, event, atEnd, needed,
    total, peers, outcome]) => ({
    kind: "wait", replica, row, start, end: over ?? end, over, name, label, event, atEnd, needed,
    total, peers, outcome, what: `${name} waits`, where: nameOf(replica),
    text: over === null ? `${event}, for ever` : `${event}: ${outcome}`,
  }));
  const faults = world.faults.map(([start, over, kind, replicas, text]) => ({
    kind: "fault", start, end: over ?? end, over, fault: kind, replicas, what: "fault",
    where: replicas.map(nameOf).join(", "), text,
  }));
  const downs = world.downs.map(([start, over, replica, why]) => ({
    kind: "down", start, end: over ?? end, replica, what: "down", where: nameOf(replica), text: why,
  }));
  const notes = world.notes.map(([when, text, problem, headline]) => ({
    kind: "note", start: when, end: when, problem, what: problem || "history", where: "", text,
    headline,
  }));
  const operations = world.operations.map(([client, start, over, what, text, marked]) => ({
    kind: "operation", client, start, end: over ?? end, over, what, text, marked,
    where: `client ${client}`, problem: marked,
  }));
  const marks = world.marks.map(([when, replica, text, vote, wrong]) => ({
    kind: "mark", start: when, end: when, replica, text, vote, wrong, problem: wrong,
    what: vote ? "vote" : "step", where: nameOf(replica),
  }));
  const entries = entriesOf(world, end);
  const problem = world.problem === null ? null : notes[world.problem];
  const events =
    [...messages, ...waits, ...faults, ...downs, ...notes, ...operations, ...marks, ...entries];
  for (const event of events) {
    event.found = [event.what, event.where, event.text, event.call ?? "", event.dependency ?? "",
      event.atEnd ?? ""].join(" ").toLowerCase();
  }
  events.sort((a, b) => a.start - b.start);
  const lists = {messages, waits, downs, notes, operations, marks};
  const explanation = world.explanation.map(
    ([list, index, why]) => ({event: lists[list][index], why}));
  return {...world, begin, end, ...lists, faults, entries, problem, explanation, events};
}

// An entry lasts from its proposal to its first run. `since` is its first decision, `before` its
// dependency; both are null if there is none. `neighbour` is the next entry in its row. Two entries
// that depend on each other, or on a later one, are a cycle.
function entriesOf(world, end) {
  const first = (times) => Object.values(times).reduce((a, b) => Math.min(a, b), Infinity);
  const entries = world.entries.map(([lane, index, dependency, proposed, decided, ran]) => {
    const since = first(decided);
    return {
      kind: "entry", lane, index, dependency, proposed, decided, ran, where: "",
      since: since === Infinity ? null : since, start: Math.min(proposed ?? since, since),
      end: Math.min(first(ran), end), what: entryName(lane, index),
      text: since === Infinity ? "not decided" : dependency === null ? "a no-op"
        : dependency === 0 ? "depends on nothing"
          : `depends on ${entryName(1 - lane, dependency)}`,
    };
  });
  const byName = new Map(entries.map((entry) => [entry.what, entry]));
  for (const entry of entries) {
    entry.before = byName.get(entryName(1 - entry.lane, entry.dependency)) ?? null;
    entry.neighbour = byName.get(entryName(entry.lane, entry.index + ENTRY_ROWS));
    entry.cycle = (entry.before?.dependency ?? 0) >= entry.index;
  }
  return entries;
}
