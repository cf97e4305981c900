// Asks once a second, and keeps two minutes of samples for the charts.
"use strict";

const SAMPLES_MAX = 120;
const PERIOD_MS = 1000;
const CHARTS = [
  { name: "requests per second", of: (now) => sum(now.replicas, (each) => each.requests_per_s) },
  { name: "mean latency, ms", of: (now) => (now.load ? now.load.mean_us / 1000 : null) },
  { name: "held for slow replicas, KiB", of: (now) => sum(now.replicas, held) / 1024 },
];

const samples = [];
const at = (id) => document.getElementById(id);
const sum = (items, value) => items.reduce((total, each) => total + (value(each) || 0), 0);
const held = (replica) => sum(replica.held_bytes || [], (bytes) => bytes);

function rounded(value) {
  if (value === null || value === undefined) return "-";
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function row(tag, texts) {
  return texts.map((text) => {
    const cell = document.createElement(tag);
    cell.textContent = text;
    return cell;
  });
}

function showReplicas(now) {
  const figures = ["requests/s", "frames/s", "syncs/s", "CPU %", "held KiB"];
  at("head").replaceChildren(...row("th", ["replica", "state", ...now.columns, ...figures]));
  at("replicas").replaceChildren(
    ...now.replicas.map((each) => {
      const line = document.createElement("tr");
      const rates = [each.requests_per_s, each.frames_per_s, each.syncs_per_s, each.cpu_percent];
      const shown = each.shows || now.columns.map(() => "");
      const cells = [each.id, each.state, ...shown, ...rates.map(rounded)];
      line.replaceChildren(...row("td", [...cells, rounded(held(each) / 1024)]));
      line.children[1].className = each.state === "runs" ? "" : "silent";
      return line;
    }),
  );
}

function svg(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function chart({ name, of }) {
  const values = samples.map(of);
  const top = Math.max(...values.map((value) => value || 0), 1e-9) * 1.1;
  const picture = svg("svg", { viewBox: `0 0 ${SAMPLES_MAX} 100`, preserveAspectRatio: "none" });
  samples.forEach((sample, x) => {
    if (sample.faults.length === 0) return;
    picture.append(svg("rect", { class: "fault", x, y: 0, width: 1, height: 100 }));
  });
  const points = values.map((value, x) => (value === null ? "" : `${x},${100 - (100 * value) / top}`));
  picture.append(svg("polyline", { points: points.filter(Boolean).join(" ") }));
  const caption = document.createElement("figcaption");
  const latest = document.createElement("b");
  latest.textContent = rounded(values.at(-1));
  caption.append(`${name}: `, latest);
  const figure = document.createElement("figure");
  figure.append(caption, picture);
  return figure;
}

function show(now) {
  document.title = at("title").textContent = now.title;
  at("faults").className = now.faults.length > 0 ? "on" : "";
  at("faults").textContent = now.faults.join("; ") || "No fault is on.";
  showReplicas(now);
  samples.push(now);
  if (samples.length > SAMPLES_MAX) samples.shift();
  at("charts").replaceChildren(...CHARTS.map(chart));
  at("graph").innerHTML = now.graph || "No window of runtime verification is over.";
}

async function tick() {
  try {
    const answer = await fetch("now.json");
    show(await answer.json());
  } catch (error) {
    at("faults").textContent = `The page's server does not answer (${error.message}).`;
  }
  setTimeout(tick, PERIOD_MS);
}

tick();
