// A cluster's recording: its rows of plain values become events with names.

import {nameOf} from "replay/words.js";

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
    kind: "fault", start, end: over ?? end, fault: kind, replicas, what: "fault",
    where: replicas.map(nameOf).join(", "), text,
  }));
  const downs = world.downs.map(([start, over, replica, why]) => ({
    kind: "down", start, end: over ?? end, replica, what: "down", where: nameOf(replica), text: why,
  }));
  const notes = world.notes.map(([when, text, problem]) => ({
    kind: "note", start: when, end: when, problem, what: problem || "history", where: "", text,
  }));
  const problem = world.problem === null ? null : notes[world.problem];
  const events = [...messages, ...waits, ...faults, ...downs, ...notes];
  for (const event of events) {
    event.found = [event.what, event.where, event.text, event.call ?? "", event.dependency ?? "",
      event.atEnd ?? ""].join(" ").toLowerCase();
  }
  events.sort((a, b) => a.start - b.start);
  return {...world, begin, end, messages, waits, faults, downs, notes, problem, events};
}
