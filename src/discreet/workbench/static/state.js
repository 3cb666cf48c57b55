// What the page remembers: kept on the server, so a reload changes nothing; with undo.

import { get, put, session } from "./api.js";

export const state = {
  step: "open", file: null, content: null, reading: {}, table: null, magnitudes: false, tabulate: null,
  rules: [], method: null, methods: {}, release: null, releaseCommand: null, original: null,
  attack: {}, compare: {}, policy: null, jobs: {}, seeds: {}, theme: null, view: {}, batch: null,
};
const DEEP = 30; // steps that undo takes back, also after a reload
const past = [];
const listeners = new Set();
let pending = 0;

export const listen = (listener) => listeners.add(listener);
const tell = () => listeners.forEach((listener) => listener());

export async function restore() {
  const kept = await get(`sessions/${session}`);
  adopt(kept.state);
  return kept;
}

// Takes what was kept: the state, and the steps that undo takes back.
export function adopt({ past: steps = [], ...kept }) {
  Object.assign(state, kept);
  past.splice(0, past.length, ...(Array.isArray(steps) ? steps : []));
}

const whole = () => ({ ...state, past });

function save() {
  clearTimeout(pending);
  pending = setTimeout(() => put(`sessions/${session}`, whole()).catch(() => {}), 150);
}

// Changes the state; `remember` puts what was before on the pile that undo takes from.
export function change(values, { remember = false } = {}) {
  if (remember) { past.push(JSON.stringify({ ...state, seeds: undefined })); if (past.length > DEEP) past.shift(); }
  Object.assign(state, values);
  save();
  tell();
}

// What is not kept yet is sent when the page goes away, so a reload finds it.
addEventListener("pagehide", () => {
  clearTimeout(pending);
  fetch(`api/sessions/${session}`, { method: "PUT", body: JSON.stringify(whole()), headers: { "content-type": "application/json" }, keepalive: true });
});

// The seed of one request: 128 bits of its own, drawn once, so asking again shows the same draw. As text, because
// numbers of the page hold 53 bits; it stays in this session, never in what is published.
export function seedFor(...request) {
  const key = JSON.stringify(request);
  const drawn = () => [...crypto.getRandomValues(new Uint32Array(4))].reduce((all, word) => (all << 32n) | BigInt(word), 1n).toString();
  if (!state.seeds[key]) change({ seeds: { ...state.seeds, [key]: drawn() } });
  return state.seeds[key];
}

export const canUndo = () => past.length > 0;
export function undo() {
  if (!past.length) return;
  const before = JSON.parse(past.pop());
  Object.assign(state, before);
  save();
  tell();
}
