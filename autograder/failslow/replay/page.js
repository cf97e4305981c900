// The page of a replay: draws one cluster's recording on a canvas, and lists it in a table.
"use strict";

(() => {
  const started = performance.now();
  const recording = JSON.parse(document.getElementById("recording").textContent);
  const byId = (id) => document.getElementById(id);
  const canvas = byId("diagram");
  const tip = byId("tip");

  // ---- sizes, in CSS pixels ----
  const TOP = 46;
  const CURVE = 84;
  const GAP = 22;
  const WAIT_ROW = 5;
  const WAIT_ROWS_MAX = 10;
  const ARROWHEADS_MAX = 2500;
  const EVENTS_MAX = 200;
  const ZOOM_MAX = 1e6;
  const NEAR = 7;
  const MINIMAL_BAR = 0.6;
  const LIST_AFTER_MS = 120;
  const ROUNDING = 1;  // nanoseconds: the scale's arithmetic is not exact

  // ---- the recording, with names ----

  // A thing that happened: {kind, start, end, where, what, text} and what its kind adds.
  function load(world) {
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
      total, peer, outcome]) => ({
      kind: "wait", replica, row, start, end: over ?? end, over, name, label, event, atEnd, needed,
      total, peer, outcome, what: `${name} waits`, where: nameOf(replica),
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

  function nameOf(node) {
    return node >= recording.firstClient ? `client ${node - recording.firstClient}` : `replica ${node}`;
  }

  const timeText = (ns) => `${(ns / 1e9).toFixed(6)} s`;
  function spanText(ns) {
    if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
    return ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(1)} \u00b5s`;
  }
  function bytesText(bytes) {
    return bytes < 1024 ? `${bytes} B` : bytes < 1 << 20
      ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
  }

  // ---- state ----

  let world;
  let hidden = new Set();  // types that are filtered out
  let matches = [];
  let match = -1;  // index in matches
  let selected = null;
  let hovered = null;
  let curve = null;  // index in recording.shows; null without any
  let lanes = [];  // by replica: {top, line, rows}
  let clientLane = null;
  let curveTop = 0;
  let heldTop = 0;
  let width = 0;
  let height = 0;
  let left = 0;
  let base = d3.scaleLinear();
  let x = base;
  let scheduled = false;  // a frame is asked for
  let listing = 0;  // the timer of the table, while it waits for the view to rest
  let colour = {};
  let typeColours = [];
  const zoom = d3.zoom();

  // ---- layout ----

  function layOut() {
    width = Math.max(280, byId("stage").clientWidth);
    left = width < 640 ? 64 : 92;
    const rows = d3.rollup(world.waits, (all) => d3.max(all, (wait) => wait.row) + 1,
      (wait) => wait.replica);
    let top = TOP;
    clientLane = null;
    if (world.messages.some((m) => Math.max(m.from, m.to) >= recording.firstClient)) {
      clientLane = {top, line: top + 14, bottom: top + 34};
      top += 48;
    }
    lanes = d3.range(world.replicas).map((replica) => {
      const count = Math.min(rows.get(replica) ?? 0, WAIT_ROWS_MAX);
      const lane = {top, line: top + 16, rows: count, bottom: top + 30 + count * WAIT_ROW};
      top = lane.bottom + GAP + 8;
      return lane;
    });
    curveTop = top + GAP;
    heldTop = curve === null ? curveTop : curveTop + CURVE + GAP + 8;
    height = heldTop + CURVE + 16;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const view = x.domain();
    base = d3.scaleLinear([world.begin, world.end], [left, width - 12]);
    zoom.extent([[left, 0], [width - 12, height]])
      .translateExtent([[left, 0], [width - 12, height]]).scaleExtent([1, ZOOM_MAX]);
    show(view[1] > 1 ? view : [world.begin, world.end]);
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const names = ["back", "ink", "quiet", "rule", "panel", "lane", "down", "fault", "wait", "quorum",
      "quorum-mark", "problem", "match", "focus", "leader"];
    colour = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    const methods = [...new Set(world.types.map((type) => type.split(" ")[0]))];
    typeColours = world.types.map(
      (type) => d3.schemeTableau10[methods.indexOf(type.split(" ")[0]) % 10]);
  }

  const lineOf = (node) => node >= recording.firstClient ? clientLane.line : lanes[node].line;

  // ---- drawing ----

  function draw() {
    scheduled = false;
    const pen = canvas.getContext("2d");
    const ratio = canvas.width / width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colour.back;
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left, height);
    pen.clip();
    drawTicks(pen);
    drawBands(pen);
    drawWaits(pen);
    drawLifelines(pen);
    document.body.dataset.arrowsDrawn = drawMessages(pen);
    drawCurves(pen);
    drawNotes(pen);
    drawEmphasis(pen);
    pen.restore();
    drawNames(pen);
    const [from, to] = x.domain();
    document.body.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
    canvas.ariaDescription = `From ${timeText(from)} to ${timeText(to)}`;
    if (!listing) document.body.dataset.settled = "yes";
  }

  function redraw() {
    document.body.dataset.settled = "";
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(draw);
  }

  function drawTicks(pen) {
    const ticks = x.ticks(Math.max(2, Math.floor((width - left) / 120)));
    pen.strokeStyle = colour.rule;
    pen.fillStyle = colour.quiet;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    const digits = Math.max(0, Math.min(9,
      Math.ceil(-Math.log10((ticks[1] - ticks[0]) / 1e9 || 1))));
    pen.beginPath();
    for (const tick of ticks) {
      const at = Math.round(x(tick)) + 0.5;
      pen.moveTo(at, 16);
      pen.lineTo(at, height);
      if (at > left + 20) pen.fillText(`${(tick / 1e9).toFixed(digits)} s`, at, 12);
    }
    pen.stroke();
  }

  const inView = (event) => {
    const [from, to] = x.domain();
    return event.end >= from - ROUNDING && event.start <= to + ROUNDING;
  };

  function bar(pen, event, top, tall) {
    const from = x(event.start);
    pen.fillRect(from, top, Math.max(MINIMAL_BAR, x(event.end) - from), tall);
  }

  function drawBands(pen) {
    pen.textAlign = "left";
    pen.font = "10px system-ui, sans-serif";
    for (const fault of world.faults.filter(inView)) {
      if (fault.fault === "crash") continue;  // shown as what it does
      for (const replica of fault.replicas) {
        const lane = lanes[replica];
        if (!lane) continue;
        pen.fillStyle = colour.fault;
        bar(pen, fault, lane.top - 6, lane.bottom - lane.top + 12);
        pen.fillStyle = colour.ink;
        if (x(fault.end) - x(fault.start) > 70) {
          pen.fillText(fault.fault, Math.max(left, x(fault.start)) + 4, lane.bottom + 4);
        }
      }
    }
    for (const down of world.downs.filter(inView)) {
      const lane = lanes[down.replica];
      pen.fillStyle = colour.down;
      bar(pen, down, lane.top - 6, lane.bottom - lane.top + 12);
      pen.fillStyle = colour.ink;
      if (x(down.end) - x(down.start) > 40) {
        pen.fillText("down", Math.max(left, x(down.start)) + 4, lane.bottom + 4);
      }
    }
  }

  function waitTop(wait) {
    return lanes[wait.replica].line + 12 + Math.min(wait.row, WAIT_ROWS_MAX - 1) * WAIT_ROW;
  }

  function drawWaits(pen) {
    for (const wait of world.waits) {
      if (!inView(wait)) continue;
      pen.fillStyle = wait.total > 1 ? colour.quorum : colour.wait;
      bar(pen, wait, waitTop(wait), WAIT_ROW - 1);
    }
    pen.fillStyle = colour["quorum-mark"];
    for (const wait of world.waits) {
      if (wait.total <= 1 || wait.outcome !== "ready" || !inView(wait)) continue;
      const at = x(wait.end);
      const middle = waitTop(wait) + 2;
      pen.beginPath();
      pen.moveTo(at - 3.5, middle);
      pen.lineTo(at, middle - 3.5);
      pen.lineTo(at + 3.5, middle);
      pen.lineTo(at, middle + 3.5);
      pen.fill();
    }
  }

  // The first thing that replicas show in words: the last of the words is the thickest line.
  function drawLifelines(pen) {
    pen.textAlign = "left";
    pen.font = "10px system-ui, sans-serif";
    if (clientLane) line(pen, clientLane.line, x.domain(), 1.5, colour.lane);
    const role = recording.shows.findIndex((shown) => shown.words.length > 0);
    lanes.forEach((lane, replica) => {
      line(pen, lane.line, x.domain(), 1.5, colour.lane);
      if (role < 0) return;
      const words = recording.shows[role].words;
      const steps = world.shown[role].filter((row) => row[1] === replica);
      steps.forEach(([when, , value], index) => {
        const died = world.downs.find((down) => down.replica === replica && down.start >= when);
        const end = Math.min(steps[index + 1]?.[0] ?? world.end, died?.start ?? world.end);
        if (!inView({start: when, end})) return;
        if (value > 0) line(pen, lane.line, [when, end], 1.5 + 2 * value, colour.leader);
        if (value > 0 && x(end) - x(when) > 50) {
          pen.fillStyle = colour.ink;
          pen.fillText(words[value] ?? value, Math.max(left, x(when)) + 4, lane.line - 6);
        }
      });
    });
  }

  function line(pen, at, [from, to], thickness, stroke) {
    pen.strokeStyle = stroke;
    pen.lineWidth = thickness;
    pen.beginPath();
    pen.moveTo(x(from), at);
    pen.lineTo(x(to), at);
    pen.stroke();
    pen.lineWidth = 1;
  }

  // Where a message's arrow begins and ends. One that does not arrive ends on the way.
  function arrowOf(message) {
    const from = lineOf(message.from);
    const to = lineOf(message.to);
    const part = message.fate === "arrived" ? 1 : message.wire === null ? 0.12 : 0.6;
    const ends = message.fate === "sent" && message.wire === null ? message.start : message.end;
    const begins = x(message.start);
    return [begins, from, begins + (x(ends) - begins), from + (to - from) * part];
  }

  const shownMessage = (message) => !hidden.has(message.type) && inView(message);

  function drawMessages(pen) {
    const visible = world.messages.filter(shownMessage);
    pen.globalAlpha = Math.max(0.12, Math.min(1, 1500 / (visible.length + 1)));
    const heads = visible.length <= ARROWHEADS_MAX;
    for (const [type, messages] of d3.group(visible, (message) => message.type)) {
      pen.strokeStyle = pen.fillStyle = typeColours[type];
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

  function drawHead(pen, [x1, y1, x2, y2], message) {
    if (message.fate === "lost") {
      const before = pen.strokeStyle;
      pen.strokeStyle = colour.problem;
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

  function drawCurves(pen) {
    if (curve !== null) {
      const rows = world.shown[curve].map(([when, replica, value]) => ({when, key: replica, value}));
      drawPanel(pen, curveTop, rows, String, (replica) => replica);
    }
    const key = (from, to) => from * 10000 + to;
    const rows = world.held.map(([when, from, to, bytes]) => ({when, key: key(from, to), value: bytes}));
    drawPanel(pen, heldTop, rows, bytesText, (both) => Math.floor(both / 10000));
  }

  // Step curves, one for each key; `replicaOf` a key gives the colour.
  function drawPanel(pen, top, rows, text, replicaOf) {
    const [from, to] = x.domain();
    const y = d3.scaleLinear([0, Math.max(1, d3.max(rows, (row) => row.value) ?? 1)],
      [top + CURVE, top + 6]).nice();
    pen.strokeStyle = colour.rule;
    pen.strokeRect(left + 0.5, top + 0.5, width - left - 12, CURVE);
    pen.fillStyle = colour.quiet;
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(rows.length ? text(y.domain()[1]) : "none", left + 4, top + 12);
    for (const [key, steps] of d3.group(rows, (row) => row.key)) {
      pen.strokeStyle = replicaColour(replicaOf(key));
      pen.lineWidth = 1.5;
      pen.beginPath();
      let value = 0;
      pen.moveTo(x(from), y(0));
      for (const step of steps) {
        if (step.when > to) break;
        if (step.when >= from) {
          pen.lineTo(x(step.when), y(value));
          pen.lineTo(x(step.when), y(step.value));
        } else {
          pen.moveTo(x(from), y(step.value));
        }
        value = step.value;
      }
      pen.lineTo(x(Math.min(to, world.end)), y(value));
      pen.stroke();
      pen.lineWidth = 1;
    }
  }

  const replicaColour = (replica) => d3.schemeTableau10[(replica + 3) % 10];

  function drawNotes(pen) {
    pen.fillStyle = colour.quiet;
    for (const note of world.notes) {
      if (!note.problem && inView(note)) pen.fillRect(x(note.start) - 0.5, 18, 1.5, 9);
    }
    for (const note of world.notes) {
      if (!note.problem || note === world.problem || !inView(note)) continue;
      drawProblem(pen, note, false);
    }
    if (world.problem && inView(world.problem)) drawProblem(pen, world.problem, true);
  }

  function drawProblem(pen, note, first) {
    const at = x(note.start);
    pen.strokeStyle = pen.fillStyle = colour.problem;
    pen.globalAlpha = first ? 1 : 0.4;
    pen.lineWidth = first ? 2 : 1;
    pen.beginPath();
    pen.moveTo(at, 18);
    pen.lineTo(at, height);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(at - 6, 18);
    pen.lineTo(at + 6, 18);
    pen.lineTo(at, 28);
    pen.fill();
    pen.lineWidth = 1;
    pen.globalAlpha = 1;
    if (!first) return;
    pen.font = "bold 12px system-ui, sans-serif";
    const room = at > width / 2;
    pen.textAlign = room ? "right" : "left";
    const space = Math.max(10, Math.floor((room ? at - left : width - at) / 6.6) - 3);
    const text = note.text.split("\n")[0];
    pen.fillText(text.length > space ? `${text.slice(0, space)}\u2026` : text, at + (room ? -9 : 9), 38);
  }

  function drawEmphasis(pen) {
    for (const event of matches) {
      if (inView(event) && (event.kind !== "message" || !hidden.has(event.type))) {
        emphasise(pen, event, colour.match, 2);
      }
    }
    if (hovered) emphasise(pen, hovered, colour.ink, 2.5);
    if (selected && inView(selected)) emphasise(pen, selected, colour.focus, 3.5);
  }

  function emphasise(pen, event, stroke, thickness) {
    pen.strokeStyle = pen.fillStyle = stroke;
    pen.lineWidth = thickness;
    pen.beginPath();
    if (event.kind === "message") {
      const [x1, y1, x2, y2] = arrowOf(event);
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
      pen.stroke();
      drawHead(pen, [x1, y1, x2, y2], event);
    } else if (event.kind === "wait") {
      pen.rect(x(event.start), waitTop(event) - 0.5, Math.max(3, x(event.end) - x(event.start)), WAIT_ROW);
      pen.stroke();
    } else if (event.kind === "note") {
      pen.fillRect(x(event.start) - 1.5, 17, 3.5, 13);
    }
    pen.lineWidth = 1;
  }

  function drawNames(pen) {
    pen.fillStyle = colour.back;
    pen.fillRect(0, 0, left, height);
    pen.fillStyle = colour.ink;
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "left";
    if (clientLane) pen.fillText("clients", 6, clientLane.line + 4);
    lanes.forEach((lane, replica) => {
      pen.fillStyle = replicaColour(replica);
      pen.fillRect(0, lane.line - 7, 3, 14);
      pen.fillStyle = colour.ink;
      pen.fillText(left < 80 ? `rep. ${replica}` : nameOf(replica), 6, lane.line + 4);
    });
    pen.fillStyle = colour.quiet;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText("history", 6, 27);
    if (curve !== null) pen.fillText(recording.shows[curve].name, 6, curveTop + 12);
    pen.fillText(left < 80 ? "held" : "held bytes", 6, heldTop + 12);
  }

  // ---- view ----

  function show([from, to]) {
    const whole = base.domain()[1] - base.domain()[0];
    const span = Math.min(whole, Math.max(to - from, whole / ZOOM_MAX));
    const scale = whole / span;
    const start = Math.max(base.domain()[0], Math.min(from, base.domain()[1] - span));
    d3.select(canvas).call(zoom.transform,
      d3.zoomIdentity.translate(left, 0).scale(scale).translate(-base(start), 0));
  }

  function pan(part) {
    const [from, to] = x.domain();
    show([from + (to - from) * part, to + (to - from) * part]);
  }

  function scaleBy(factor) {
    const [from, to] = x.domain();
    const middle = (from + to) / 2;
    show([middle - (to - from) / factor / 2, middle + (to - from) / factor / 2]);
  }

  // Brings an event into view, close enough to tell it from its neighbours.
  function goTo(event) {
    const span = Math.min(x.domain()[1] - x.domain()[0], Math.max((event.end - event.start) * 8,
      (world.end - world.begin) / 40));
    const middle = event.kind === "wait" ? event.start : (event.start + event.end) / 2;
    show([middle - span / 2, middle + span / 2]);
  }

  function select(event) {
    selected = event;
    const panel = byId("selected");
    panel.hidden = !event;
    panel.replaceChildren();
    if (event) describe(event, panel);
    document.body.dataset.selected = event ? `${event.kind} ${event.id ?? event.text}` : "";
    listEvents();
    redraw();
  }

  // ---- words ----

  function factsOf(event) {
    if (event.kind === "curve") return event.facts;
    const facts = [["time", timeText(event.start)]];
    if (event.where) facts.push(["where", event.where]);
    if (event.kind === "message") {
      const ended = {arrived: "arrived", lost: "lost", released: "taken back by its sender",
        sent: "still under way"}[event.fate];
      facts.push(["fate", event.over === null ? ended : `${ended} after ${spanText(event.over - event.start)}`]);
      if (event.wire !== null && event.wire > event.start) {
        facts.push(["held", `${spanText(event.wire - event.start)} by its sender`]);
      }
      if (event.read !== null && event.read > event.over) {
        facts.push(["read", `${spanText(event.read - event.over)} after it arrived`]);
      }
      if (event.again) facts.push(["copy", "made by the network"]);
      facts.push(["call", event.call], ["for", event.dependency], ["size", bytesText(event.bytes)]);
    } else if (event.kind === "wait") {
      facts.push(["on", event.event]);
      facts.push(["needs", `${event.needed} of ${event.total}`]);
      if (event.peer >= 0) facts.push(["peer", nameOf(event.peer)]);
      facts.push(["lasts", event.over === null ? "to the end of the recording" : spanText(event.over - event.start)]);
      if (event.outcome) facts.push(["ends", `${event.outcome}: ${event.atEnd}`]);
    } else if (event.kind !== "note") {
      facts.push(["lasts", spanText(event.end - event.start)]);
    }
    return facts;
  }

  function describe(event, into) {
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
    const others = world.messages.filter((other) => other !== message && other.call === message.call &&
      [message.from, message.to].includes(other.from) && [message.from, message.to].includes(other.to));
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

  function listEvents() {
    clearTimeout(listing);
    listing = 0;
    const visible = world.events.filter(
      (event) => inView(event) && (event.kind !== "message" || !hidden.has(event.type)));
    const body = byId("events").tBodies[0];
    const before = selected ? visible.indexOf(selected) - EVENTS_MAX / 2 : 0;
    const first = Math.max(0, Math.min(before, visible.length - EVENTS_MAX));
    body.replaceChildren(...visible.slice(first, first + EVENTS_MAX).map(rowOf));
    const all = visible.length.toLocaleString("en");
    const which = first > 0 ? "around the chosen one" : "the first";
    byId("in-view").textContent = visible.length > EVENTS_MAX
      ? `${all} events. These are ${EVENTS_MAX} of them, ${which}: zoom in to see fewer.`
      : `${all} events`;
    document.body.dataset.eventsInView = visible.length;
    if (!scheduled) document.body.dataset.settled = "yes";
  }

  function rowOf(event) {
    const row = document.createElement("tr");
    if (event.problem) row.classList.add("problem");
    if (event === selected) row.classList.add("is-selected");
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

  // ---- search and filter ----

  function search() {
    const wanted = byId("search").value.trim().toLowerCase();
    matches = wanted ? world.events.filter((event) => event.found.includes(wanted)) : [];
    match = -1;
    tellMatches(wanted);
    redraw();
  }

  function tellMatches(wanted) {
    const count = matches.length.toLocaleString("en");
    byId("matches").textContent = !wanted ? "" : !matches.length ? "nothing found"
      : match < 0 ? `${count} found` : `${match + 1} of ${count}`;
    document.body.dataset.matches = matches.length;
  }

  function step(by) {
    if (!matches.length) return;
    match = match < 0 ? (by > 0 ? 0 : matches.length - 1) : (match + by + matches.length) % matches.length;
    tellMatches(true);
    goTo(matches[match]);
    select(matches[match]);
  }

  function offerTypes() {
    const counts = d3.rollup(world.messages, (all) => all.length, (message) => message.type);
    const legend = byId("types").querySelector("legend");
    byId("types").replaceChildren(legend, ...world.types.map((name, type) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = !hidden.has(type);
      box.dataset.type = name;
      box.addEventListener("change", () => {
        hidden[box.checked ? "delete" : "add"](type);
        listEvents();
        redraw();
      });
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = typeColours[type];
      label.append(box, swatch, `${name} (${counts.get(type).toLocaleString("en")})`);
      return label;
    }));
  }

  // ---- pointing ----

  function under(px, py) {
    let best = null;
    let nearest = NEAR;
    for (const message of world.messages) {
      if (!shownMessage(message)) continue;
      const away = distance(px, py, arrowOf(message));
      if (away < nearest) [nearest, best] = [away, message];
    }
    if (best && nearest < 3) return best;
    for (const note of world.notes) {
      if (py > 14 && py < 32 && Math.abs(x(note.start) - px) < 5) return note;
      if (note === world.problem && Math.abs(x(note.start) - px) < 3) return note;
    }
    const within = (event, top, tall) =>
      py >= top && py <= top + tall && px >= x(event.start) - 2 && px <= x(event.end) + 2;
    const wait = world.waits.findLast((one) => within(one, waitTop(one), WAIT_ROW));
    if (wait) return wait;
    if (best) return best;
    const onLane = (event, replica) => lanes[replica] &&
      within(event, lanes[replica].top - 6, lanes[replica].bottom - lanes[replica].top + 12);
    return world.downs.find((down) => onLane(down, down.replica)) ??
      world.faults.find((fault) => fault.replicas.some((replica) => onLane(fault, replica))) ?? null;
  }

  // Of a point from a segment.
  function distance(px, py, [x1, y1, x2, y2]) {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const square = dx * dx + dy * dy;
    const t = square ? Math.max(0, Math.min(1, ((px - x1) * dx + (py - y1) * dy) / square)) : 0;
    return Math.hypot(px - x1 - t * dx, py - y1 - t * dy);
  }

  function curveWords(px, py) {
    const when = x.invert(px);
    const at = (rows) => rows.filter((row) => row[0] <= when);
    if (curve !== null && py > curveTop && py < curveTop + CURVE) {
      const latest = d3.rollup(at(world.shown[curve]), (all) => all.at(-1)[2], (row) => row[1]);
      const words = recording.shows[curve].words;
      return [...latest].sort((a, b) => a[0] - b[0]).map(([r, v]) => [nameOf(r), String(words[v] ?? v)]);
    }
    if (py > heldTop && py < heldTop + CURVE) {
      const latest = d3.rollup(at(world.held), (all) => all.at(-1)[3], (row) => `${nameOf(row[1])} for ${row[2]}`);
      const held = [...latest].filter(([, bytes]) => bytes > 0).map(([who, bytes]) => [who, bytesText(bytes)]);
      return held.length ? held : [["held bytes", "none"]];
    }
    return null;
  }

  function hover(pointer) {
    const [px, py] = d3.pointer(pointer, canvas);
    const before = hovered;
    hovered = px < left ? null : under(px, py);
    const words = hovered || px < left ? null : curveWords(px, py);
    tip.hidden = !hovered && !words;
    tip.replaceChildren();
    if (hovered) describe(hovered, tip);
    if (words) describe({kind: "curve", what: timeText(x.invert(px)), facts: words}, tip);
    const aside = px > width / 2;
    tip.style.left = aside ? "" : `${px + 14}px`;
    tip.style.right = aside ? `${width - px + 14}px` : "";
    tip.style.top = `${Math.min(py + 14, height - 40)}px`;
    document.body.dataset.hovered = hovered ? hovered.kind : "";
    if (before !== hovered) redraw();
  }

  // ---- keys and buttons ----

  const ACTIONS = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    "+": () => scaleBy(1.6),
    "=": () => scaleBy(1.6),
    "-": () => scaleBy(1 / 1.6),
    "/": () => byId("search").focus(),
    n: () => step(1),
    N: () => step(-1),
    f: () => show([world.begin, world.end]),
    v: showProblem,
    Escape: () => select(null),
  };

  function showProblem() {
    if (!world.problem) return;
    goTo(world.problem);
    select(world.problem);
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
    byId("problem").addEventListener("click", showProblem);
    byId("fit").addEventListener("click", ACTIONS.f);
    byId("closer").addEventListener("click", ACTIONS["+"]);
    byId("wider").addEventListener("click", ACTIONS["-"]);
    byId("world").addEventListener("change", (event) => open(Number(event.target.value)));
    byId("curve").addEventListener("change", (event) => {
      curve = Number(event.target.value);
      redraw();
    });
    const pointed = d3.select(canvas).call(zoom);
    pointed.on("mousemove.tip", hover).on("mouseleave.tip", () => {
      hovered = null;
      tip.hidden = true;
      redraw();
    });
    pointed.on("click.tip", (event) => select(under(...d3.pointer(event, canvas))));
    zoom.on("zoom", ({transform}) => {
      x = transform.rescaleX(base);
      redraw();
      clearTimeout(listing);
      listing = setTimeout(listEvents, LIST_AFTER_MS);
    });
    new ResizeObserver(() => {
      if (byId("stage").clientWidth !== width) layOut();
    }).observe(byId("stage"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      readColours();
      redraw();
    });
  }

  // ---- beginning ----

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
    const preferred = shows.findIndex((shown) => shown.name === "commit");
    curve = shows.length ? Math.max(0, preferred) : null;
    byId("curve").append(...shows.map((shown, index) => option(index, shown.name)));
    byId("curve").parentNode.hidden = !shows.length;
    if (curve !== null) byId("curve").value = curve;
    byId("failures").hidden = recording.passed;
  }

  function open(index) {
    world = load(recording.worlds[index]);
    hidden = new Set();
    x = d3.scaleLinear();
    readColours();
    offerTypes();
    search();
    layOut();
    select(null);
    byId("problem").disabled = !world.problem;
    byId("problem-name").textContent =
      world.problem?.problem === "failure" ? "First failure" : "First violation";
    byId("left-out").hidden = !world.left_out;
    byId("left-out").textContent = `${world.left_out.toLocaleString("en")} messages are left out: the ` +
      `recording is shown from ${timeText(world.begin)} to ${timeText(world.end)}. The trace has all.`;
  }

  offerChoices();
  connect();
  open(recording.begin);
  draw();
  document.body.dataset.firstDrawMs = Math.round(performance.now() - started);
})();
