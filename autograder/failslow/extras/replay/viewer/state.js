// The things that all modules share: the recording, the page's elements, and the present view.

/* global d3 */

export const recording = JSON.parse(document.getElementById("recording").textContent);
export const byId = (id) => document.getElementById(id);
export const canvas = byId("diagram");
export const tip = byId("tip");
export const zoom = d3.zoom();

// Sizes, in CSS pixels.
export const TOP = 46;
export const CURVE = 84;
export const GAP = 22;
export const ENTRY = 8;
export const ENTRY_ROWS = 4;  // of a lane: neighbours do not cover each other
export const OPERATION = 22;
export const WAIT_ROW = 5;
export const WAIT_ROWS_MAX = 10;

// Nanoseconds: the scale's arithmetic is not exact.
export const ROUNDING = 1;

// Modules cannot assign what they import, so everything that changes is a property of this.
export const state = {
  world: null,
  recorded: null,  // the same as the recording has it
  hidden: new Set(),  // types that are filtered out
  matches: [],
  match: -1,  // index in matches
  step: -1,  // index in the explanation; -1 before the first
  selected: null,
  hovered: null,
  curve: null,  // index in recording.shows; null without any

  lanes: [],  // by replica: {top, line, rows, bottom}
  clientLane: null,  // null when no client sends
  operationTops: new Map(),  // by client
  entryTops: [],  // by lane of the log; empty without lanes
  curveTop: 0,
  heldTop: 0,
  width: 0,
  height: 0,
  left: 0,
  ordered: false,  // events are placed by their order, not by time
  instants: null,  // of events, in order; null if time is the order
  instant: null,  // the time that the address names
  base: d3.scaleLinear(),  // positions of the whole recording
  x: null,  // from times to pixels: what is in view
  colour: {},
  typeColours: [],

  written: [],  // boxes of the words that lanes have in this frame
  scheduled: false,  // a frame is asked for
  listing: 0,  // the timer of the table, while it waits for the view to rest
};
