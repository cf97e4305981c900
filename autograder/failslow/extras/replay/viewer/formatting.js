// Names, times and sizes as a reader sees them.

import {recording} from "replay/state.js";

export function nameOf(node) {
  const client = node - recording.firstClient;
  return client >= 0 ? `client ${client}` : `replica ${node}`;
}

export const entryName = (lane, index) => `${recording.lanes[lane]}.${index}`;

// Cut off after the microsecond, as in the history.
export const timeText = (ns) => `${(Math.floor(ns / 1e3) / 1e6).toFixed(6)} s`;

export function spanText(ns) {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  return ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(1)} \u00b5s`;
}

export function bytesText(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1 << 20
    ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
