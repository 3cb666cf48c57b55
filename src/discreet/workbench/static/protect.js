// Protect: choose a method, move its parameters, and see risk, utility and the table change at once.

import { run } from "./api.js";
import { bench, refreshFiles, showCommand } from "./app.js";
import { el, failure, figure, fill, progressBar, risk } from "./dom.js";
import { form } from "./form.js";
import { Grid, labelsOf, layOut } from "./grid.js";
import { key, reading } from "./see.js";
import { change, state } from "./state.js";

const PAUSE = 60; // milliseconds of rest before a change is tried
const FOR_MAGNITUDES = new Set(["suppress", "adjust", "cell-key", "redesign"]);

export const methods = () => Object.values(bench.commands).filter((c) => c.name.startsWith("protect "));
export const levelOf = (cell) => {
  if (!cell) return 0;
  if (cell.determined) return 5;
  const bits = cell.bits ?? 99;
  return bits < 1.2 ? 4 : bits < 2 ? 3 : bits < 3 ? 2 : 1;
};

let counter = 0;
let cancel = null;

export async function protect(screen, { still }) {
  const all = methods();
  const name = all.some((m) => m.name === state.method) ? state.method : all[0].name;
  const spec = bench.commands[name];
  const values = state.methods[name] || {};
  const result = el("div", { id: "result" });
  const pick = el("select", { id: "method", on: { change: (e) => { change({ method: e.target.value }, { remember: true }); protect(screen, { still }); } } }, all.map((m) => el("option", { value: m.name, selected: m.name === name }, m.name.replace("protect ", "").replaceAll("-", " "))));
  let timer = 0;
  const options = form(spec, values, { files: bench.files, leave: ["output", "example", "hierarchy"], onChange: (given) => {
    change({ methods: { ...state.methods, [name]: given } }, { remember: true });
    clearTimeout(timer);
    timer = setTimeout(() => attempt(name, result, still), PAUSE);
  } });
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("label", { for: "method" }, el("span", {}, "Method"), pick), el("p", { class: "small quiet" }, spec.help), options)), result));
  await attempt(name, result, still);
}

function arguments_(name, output) {
  const spec = bench.commands[name];
  const known = new Set(spec.parameters.map((p) => p.name));
  const given = { ...(known.has("seed") ? { seed: 1 } : {}), ...(state.methods[name] || {}) };
  const where = known.has("file") ? { file: state.table } : { table: state.table };
  const read = Object.fromEntries(Object.entries(reading()).filter(([option]) => known.has(option)));
  return { ...where, ...read, ...given, output };
}

// Runs the method, then everything that judges its release; what is newer replaces what is older.
async function attempt(name, node, still) {
  counter += 1;
  const mine = counter;
  const current = () => still() && mine === counter;
  if (cancel) cancel.abort();
  cancel = new AbortController();
  const { signal } = cancel;
  const output = `release-${name.replace("protect ", "").replaceAll(" ", "-")}.parquet`;
  const bar = progressBar(() => cancel.abort());
  const late = setTimeout(() => { if (current()) fill(node, bar.node); }, 400);
  try {
    const made = await run(name, arguments_(name, output), { watch: (job) => bar.show(job), signal });
    if (!current()) return;
    clearTimeout(late);
    showCommand(made.command);
    change({ release: output, releaseCommand: made.command });
    const [before, after, measured] = await Promise.all([
      run("inspect", { file: state.table, cells: true, ...reading() }),
      run("inspect", { file: output, cells: true }),
      run("risk", { table: state.table, released: output, ...reading() }).catch((error) => ({ error })),
    ]);
    if (!current()) return;
    const judged = el("div", { class: "card" }, el("b", {}, "…"), el("span", {}, "auditing"));
    const shown = draw(node, made.result, before.result.cells, after.result.cells, measured, judged);
    node.dataset.drawn = String(mine);
    refreshFiles();
    const audited = await run("audit", { releases: [output], top: 20 }).catch((error) => ({ error }));
    if (current()) shown.audit(audited, judged);
  } catch (error) {
    clearTimeout(late);
    if (current() && error.message !== "cancelled") fill(node, failure(error), FOR_MAGNITUDES.has(name) ? null : el("p", { class: "small quiet" }, "Other methods may fit this table."));
    if (current()) node.dataset.drawn = String(mine);
  }
}

function draw(node, made, before, after, measured, judged) {
  const old = new Map(before.codes[0].map((_, i) => [key(labelsOf(before, i)), before.values[i] / 10 ** before.decimals]));
  const wasHidden = new Set(before.hidden.map((i) => key(labelsOf(before, i))));
  const nowHidden = new Set(after.hidden);
  const scale = 10 ** after.decimals;
  let judgedCells = new Map();
  const face = (i) => {
    const labels = key(labelsOf(after, i));
    const was = old.get(labels);
    const now = after.values[i] / scale;
    const cell = judgedCells.get(labels);
    const moved = was !== undefined && !nowHidden.has(i) && !wasHidden.has(labels) && was !== now;
    const words = [nowHidden.has(i) ? "hidden" : moved ? `was ${figure(was, after.decimals)}` : "", cell ? `between ${figure(cell.lower)} and ${figure(cell.upper)}, ${cell.verdict}` : ""].filter(Boolean).join("; ");
    return { text: nowHidden.has(i) ? "×" : figure(now, after.decimals), hidden: nowHidden.has(i), changed: moved, level: levelOf(cell), flag: cell && cell.verdict === "unsafe", words };
  };
  const beforeFace = (i) => ({ text: before.hidden.includes(i) ? "×" : figure(before.values[i] / 10 ** before.decimals, before.decimals) });
  const left = new Grid(layOut(before), { name: "before", face: beforeFace });
  const right = new Grid(layOut(after), { name: "after", face });
  let busy = false;
  const together = (from, to) => from.node.addEventListener("scroll", () => { if (busy) return; busy = true; to.node.scrollTop = from.node.scrollTop; to.node.scrollLeft = from.node.scrollLeft; requestAnimationFrame(() => { busy = false; }); });
  together(left, right);
  together(right, left);
  const m = measured.result;
  const cards = el("div", { class: "cards" },
    m && el("div", { class: "card" }, el("b", { id: "r2" }, risk(m.value)), el("span", {}, `${m.measure} after${m.before !== null && m.before !== undefined ? `, ${risk(m.before)} before` : ""}`)),
    made.utility !== undefined && made.utility !== null ? el("div", { class: "card" }, el("b", { id: "utility" }, Number(made.utility).toFixed(3)), el("span", {}, "utility, 1 is unchanged")) : null,
    el("div", { class: "card" }, el("b", { id: "changed" }, figure(made.hidden ? made.hidden : made.changed)), el("span", {}, `${made.hidden ? "hidden" : "changed"} of ${figure(made.figures)} figures`)), judged);
  fill(node, cards, el("p", { id: "sentence" }, made.sentence), measured.error ? el("p", { class: "small quiet" }, measured.error.message) : null,
    el("div", { class: "sides" }, el("div", {}, el("h3", {}, "Before (confidential)"), left.node), el("div", {}, el("h3", {}, "After (what is published)"), right.node)),
    el("p", { class: "legend" }, el("span", {}, "• changed"), el("span", {}, el("i", { class: "ih" }), "× hidden"), [1, 2, 3, 4, 5].map((n) => el("span", {}, el("i", { class: `i${n}` }), ["3 bits left and more", "2 to 3 bits", "1.2 to 2 bits", "hardly any doubt", "worked out exactly"][n - 1])), el("span", {}, "! unsafe")));
  left.draw(true);
  right.draw(true);
  return { audit(audited, card) {
    if (audited.error) { fill(card, el("b", {}, "–"), el("span", {}, audited.error.message)); return; }
    const a = audited.result;
    judgedCells = new Map(a.cells.filter((c) => c.attacker === "outsider").map((c) => [key(c.cell), c]));
    fill(card, el("b", { id: "audit", class: { safe: "good", unsafe: "bad" }[a.verdict] || "warn" }, a.verdict), el("span", {}, a.sentence));
    right.draw(true);
  } };
}
