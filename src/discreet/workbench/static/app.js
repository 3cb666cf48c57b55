// The page: six steps, one command line below, and what was chosen so far above.

import { get, remove } from "./api.js";
import { el, failure, fill, toast } from "./dom.js";
import { canUndo, change, listen, restore, state, undo } from "./state.js";
import { open } from "./open.js";
import { alone, see } from "./see.js";
import { protect } from "./protect.js";
import { compare } from "./compare.js";
import { attack } from "./attack.js";
import { decide } from "./decide.js";

const STEPS = { open: ["Open", open], see: ["See", see], protect: ["Protect", protect], compare: ["Compare", compare], attack: ["Attack", attack], decide: ["Decide", decide] };
export const bench = { commands: {}, files: [], examples: [], version: "", run: "", policies: [], ledger: null };

export function showCommand(text) { document.getElementById("command").textContent = text; }
export function go(step) { change({ step }); render(); }

const shut = (name) => name !== "open" && !state.table && !(name === "attack" && state.release);

function steps() {
  fill(document.getElementById("steps"), Object.entries(STEPS).map(([name, [title]], i) => el("button", {
    type: "button", "data-step": name, "aria-current": state.step === name ? "step" : null,
    disabled: shut(name), title: shut(name) ? "Open a table first" : `Alt+${i + 1}`, on: { click: () => go(name) },
  }, title)));
  const undoing = document.getElementById("undo");
  undoing.disabled = !canUndo();
  undoing.title = canUndo() ? "Undo the last change (Ctrl+Z)" : "Nothing to undo";
}

function context() {
  const parts = [];
  if (state.table) parts.push(alone() ? "Release " : "Table ", el("strong", {}, state.table));
  if (state.release) parts.push(" · Release ", el("strong", {}, state.release));
  if (bench.ledger) parts.push(parts.length ? " · Ledger " : "Ledger ", el("strong", {}, bench.ledger), bench.begun ? "" : " (not begun yet)");
  fill(document.getElementById("context"), parts.length ? parts : "Open a table, records or a release to begin.");
}

let turn = 0;
export async function render() {
  turn += 1;
  const mine = turn;
  steps();
  context();
  const screen = document.getElementById("screen");
  const still = () => mine === turn;
  try {
    await STEPS[state.step][1](screen, { still });
  } catch (error) {
    if (still()) fill(screen, failure(error));
  }
  screen.dataset.ready = state.step;
}

export async function refreshLedger() { Object.assign(bench, await get("ledger")); context(); }
export async function refreshFiles() { bench.files = (await get("files")).files; }

function theme() {
  const root = document.documentElement;
  if (state.theme) root.dataset.theme = state.theme; else delete root.dataset.theme;
  document.getElementById("theme").setAttribute("aria-pressed", String(state.theme === "dark"));
}

async function start() {
  Object.assign(bench, await get("start"));
  await restore();
  // A file that was named at the start is opened without a click.
  if (!state.file && bench.opened) change({ file: bench.opened });
  theme();
  listen(() => { steps(); context(); });
  document.getElementById("undo").addEventListener("click", () => { undo(); render(); toast("undone"); });
  document.getElementById("theme").addEventListener("click", () => {
    const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    change({ theme: dark ? "light" : "dark" });
    theme();
  });
  document.getElementById("copy").addEventListener("click", async () => {
    const text = document.getElementById("command").textContent;
    try { await navigator.clipboard.writeText(text); toast("copied"); } catch { toast("select the command and copy it"); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /INPUT|TEXTAREA|SELECT/.test(event.target.tagName);
    if (event.altKey && event.key >= "1" && event.key <= "6") { const name = Object.keys(STEPS)[Number(event.key) - 1]; if (!document.querySelector(`[data-step=${name}]`).disabled) { event.preventDefault(); go(name); } }
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing && canUndo()) { event.preventDefault(); undo(); render(); }
  });
  await render();
  document.body.dataset.ready = "yes";
}

export const stop = (job) => remove(`jobs/${job}`);
start().catch((error) => fill(document.getElementById("screen"), failure(error)));
