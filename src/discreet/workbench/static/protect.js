// Protect: choose a method, move its parameters, and see risk, utility and the table change at once.

import { own, run, settled } from "./api.js";
import { bench, refreshFiles, showCommand } from "./app.js";
import { browse } from "./browse.js";
import { Places, labelsOf, nameOf, printed } from "./cells.js";
import { el, failure, figure, fill, progressBar, risk } from "./dom.js";
import { form } from "./form.js";
import { Grid } from "./grid.js";
import { layOut } from "./layout.js";
import { MOST, alone, beyond, bitsLegend, nothingToProtect, readAs, rulesOf, secrecy, tone, typed } from "./see.js";
import { change, seedFor, state } from "./state.js";

const PAUSE = 15; // milliseconds of rest before a change is tried
const FRONT = ["rule", "method", "cost", "insiders", "form"]; // of the options that help has put into panels
const LEAVE = ["output", "example", "hierarchy", "status", "tab", "record"];

// The methods that make a release of a table; others sample or swap records, or design noise.
export const methods = () => Object.values(bench.commands).filter((c) => c.name.startsWith("protect ") && c.parameters.some((p) => p.name === "margins"));
export const levelOf = (cell) => {
  if (!cell) return 0;
  if (cell.determined) return 5;
  // Where bits are not shown, no more than those of the interval are left.
  const bits = cell.bits ?? (cell.basis === "not shown" && cell.values !== null ? Math.log2(cell.values) : 99);
  return bits < 1.2 ? 4 : bits < 2 ? 3 : bits < 3 ? 2 : 1;
};

let counter = 0;
let cancel = null;
let making = null;

export async function protect(screen, { still }) {
  if (alone()) { fill(screen, nothingToProtect()); showCommand(typed("audit")); return; }
  const all = methods();
  const usual = state.magnitudes ? "protect suppress" : "protect random-rounding";
  const name = all.some((m) => m.name === state.method) ? state.method : usual;
  const spec = bench.commands[name];
  const result = el("div", { id: "result" });
  const view = { result, original: null, sides: null };
  const pick = el("select", { id: "method", on: { change: (e) => { change({ method: e.target.value }, { remember: true }); protect(screen, { still }); } } }, all.map((m) => el("option", { value: m.name, selected: m.name === name }, m.name.replace("protect ", "").replaceAll("-", " "))));
  let timer = 0;
  const options = form(spec, given(name), { first: spec.parameters.filter((p) => !p.panel || FRONT.includes(p.name)).map((p) => p.name), files: bench.files, leave: LEAVE, onChange: (values) => {
    change({ methods: { ...state.methods, [name]: values } }, { remember: true });
    clearTimeout(timer);
    timer = setTimeout(() => attempt(name, view, still), PAUSE);
  } });
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("label", { for: "method" }, el("span", {}, "Method"), pick), el("p", { class: "small quiet" }, spec.help), options)), result));
  await attempt(name, view, still);
}

// What was chosen for a method; if it takes rules, those of the table's own screen to begin with.
function given(name) {
  const known = new Set(bench.commands[name].parameters.map((p) => p.name));
  return { ...(known.has("rule") && name !== "protect redesign" ? { rule: rulesOf() } : {}), ...state.methods[name] };
}

function request(name, output) {
  const known = new Set(bench.commands[name].parameters.map((p) => p.name));
  const asked = { file: state.table, ...readAs(name), ...given(name), output };
  return known.has("seed") && !asked.seed ? { ...asked, seed: seedFor(name, asked) } : asked;
}

// Runs the method, then everything that judges its release; what is newer replaces what is older.
async function attempt(name, view, still) {
  const node = view.result;
  counter += 1;
  const mine = counter;
  const current = () => still() && mine === counter;
  const earlier = cancel;
  const mineToStop = new AbortController();
  cancel = mineToStop;
  const { signal } = mineToStop;
  const output = own(`release-${name.replace("protect ", "").replaceAll(" ", "-")}.parquet`);
  const bar = progressBar(() => mineToStop.abort());
  const late = setTimeout(() => { if (current()) { view.sides = null; fill(node, bar.node); } }, 600);
  view.original ??= run("inspect", { file: state.table, cells: true, ...readAs("inspect") });
  try {
    await settled(making, earlier);
    if (!current()) return;
    making = run(name, request(name, output), { watch: (job) => bar.show(job), signal });
    const made = await making;
    if (!current()) return;
    change({ release: output, releaseCommand: made.command, verdict: null });
    const [before, after, measured] = await Promise.all([
      view.original,
      run("inspect", { file: output, cells: true }),
      made.result.hidden ? { unmeasured: true } : run("risk", { table: state.table, released: output, ...readAs("risk") }).catch((error) => ({ error })),
    ]);
    if (!current()) return;
    clearTimeout(late);
    showCommand(made.command);
    view.sides = view.sides || sides(node, before.result.cells, after.result.cells);
    view.sides.show(made.result, after.result.cells, measured);
    node.dataset.drawn = String(mine);
    refreshFiles();
    const audited = await run("audit", { releases: [output], top: MOST }, { signal }).catch((error) => ({ error }));
    if (current()) view.sides.judge(audited);
  } catch (error) {
    clearTimeout(late);
    if (!current()) return;
    view.sides = null;
    fill(node, error.message === "cancelled" ? el("p", { class: "quiet" }, "Cancelled; change something to try again.") : [failure(error), el("p", { class: "small quiet" }, "Nothing was written. Other parameters or methods may fit this table.")]);
    node.dataset.drawn = String(mine);
  }
}

// The original and the release beside each other, kept while parameters move: only what differs is drawn again.
function sides(node, before, first) {
  const places = new Places(before);
  const unpublished = new Set(before.hidden);
  let now = null;
  const face = (i) => {
    const was = now.from[i];
    const cell = now.judged.get(i);
    const hidden = now.hidden.has(i);
    const text = hidden ? "×" : now.intervals.get(i) || printed(now.cells, i);
    const old = was < 0 ? null : unpublished.has(was) ? "×" : printed(before, was);
    const differs = old !== null && !hidden && text !== old;
    const words = [hidden && old !== null ? `hidden, was ${old}` : differs ? `was ${old}` : "", cell ? `a reader knows: ${figure(cell.lower)} to ${figure(cell.upper)}, ${cell.verdict}` : ""].filter(Boolean).join("; ");
    return { text, hidden, changed: differs, level: levelOf(cell), flag: Boolean(cell && cell.verdict === "unsafe"), words };
  };
  const beforeFace = (i) => {
    const at = now.to[i];
    const text = unpublished.has(i) ? "×" : printed(before, i);
    return { text, changed: at >= 0 && (now.hidden.has(at) || (now.intervals.get(at) || printed(now.cells, at)) !== text), words: at < 0 ? "not published" : "" };
  };
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("p", { class: "quiet small" }, "Choose a cell of the release to see what is known of it."));
  const adopt = (cells) => {
    const from = places.of(cells);
    const to = new Int32Array(before.values.length).fill(-1);
    from.forEach((was, i) => { if (was >= 0) to[was] = i; });
    now = { cells, from, to, hidden: new Set(cells.hidden), intervals: intervalsOf(cells), judged: new Map(), all: null, places: null, rest: 0 };
  };
  adopt(first);
  const left = new Grid(layOut(before), { name: "before", face: beforeFace, width: widest(first) });
  const beside = (view) => left.show(layOut(before, { ...view, only: view.only && ((i) => now.to[i] >= 0 && view.only(now.to[i])) }));
  const moved = (i) => now.from[i] >= 0 && !now.hidden.has(i) && (now.intervals.get(i) || printed(now.cells, i)) !== printed(before, now.from[i]);
  const filters = { hidden: ["hidden ones", (i) => now.hidden.has(i)], changed: ["changed ones", moved], unsafe: ["unsafe ones", (i) => (now.judged.get(i) || {}).verdict === "unsafe"] };
  const after = browse(first, { name: "after", face, filters, flagged: "unsafe", onView: beside, width: widest(first), onSelect: (i) => describe(detail, now, i, now.from[i] < 0 || unpublished.has(now.from[i]) ? null : printed(before, now.from[i])) });
  const right = after.grid;
  beside(after.view());
  let busy = false;
  const together = (one, other) => one.node.addEventListener("scroll", () => { if (busy) return; busy = true; other.node.scrollTop = one.node.scrollTop; other.node.scrollLeft = one.node.scrollLeft; requestAnimationFrame(() => { busy = false; }); });
  together(left, right);
  together(right, left);
  const cards = el("div", { class: "cards" });
  const words = el("div", {});
  const judged = el("div", { class: "card" });
  const more = el("p", { class: "small quiet", id: "not-shown" });
  const sides = el("div", { class: "sides" }, el("div", {}, el("h2", {}, "Before (confidential)"), left.node), el("div", {}, el("h2", {}, "After (what is published)"), right.node));
  // Low tables that do not fit side by side stand one above the other, so that no column is cut off.
  new ResizeObserver(() => { const [width, height] = right.full || [0, 0]; sides.classList.toggle("stacked", 2 * width + 18 > sides.clientWidth && height < 0.4 * window.innerHeight); }).observe(sides);
  fill(node, cards, words, after.tools, sides,
    el("p", { class: "legend" }, el("span", {}, "• changed or hidden"), el("span", {}, el("i", { class: "ih" }), "× hidden"), bitsLegend()), more, detail);
  return {
    show(made, cells, measured) {
      adopt(cells);
      fill(judged, el("b", {}, "…"), el("span", {}, "auditing"));
      fill(more);
      fill(cards, figures(made, measured.result), judged);
      fill(words, el("p", { id: "sentence" }, made.sentence), unmeasured(made, measured));
      after.show(cells, face);
    },
    judge(audited) {
      if (audited.error) { if (audited.error.message !== "cancelled") fill(judged, el("b", { id: "audit" }, "–"), el("span", {}, audited.error.message)); return; }
      const a = audited.result;
      now.places = new Places(now.cells);
      now.all = a.cells;
      now.rest = a.not_shown;
      fill(more, beyond(a));
      for (const c of a.cells) if (c.subject === "value") { const i = now.places.at(c.cell); const had = now.judged.get(i); if (i !== undefined && (!had || levelOf(c) > levelOf(had))) now.judged.set(i, c); }
      fill(judged, el("b", { id: "audit", class: tone(a.verdict) }, a.verdict), el("span", {}, `${a.sentence} To an outsider; Attack tries others.`));
      after.draw();
    },
  };
}

const intervalsOf = (cells) => new Map((cells.intervals || []).map(([i, low, high]) => [i, `${figure(low / 10 ** cells.decimals, cells.decimals)}–${figure(high / 10 ** cells.decimals, cells.decimals)}`]));
const widest = (cells) => Math.max(0, ...[...intervalsOf(cells).values()].map((text) => text.length));

function figures(made, m) {
  const card = (id, value, words) => el("div", { class: "card" }, el("b", { id }, value), el("span", {}, words));
  const every = `${figure(made.figures)} ${made.inner ? "inner cells" : "cells and totals"}`;
  const hidden = made.suppressed ? `hidden of ${every}: ${figure(made.suppressed.primary)} sensitive, ${figure(made.suppressed.secondary)} others` : `hidden of ${every}`;
  return [
    m && card("r2", risk(m.value), `${m.measure} after${m.before !== null && m.before !== undefined ? `, ${risk(m.before)} before` : ""}`),
    made.utility !== undefined && made.utility !== null ? card("utility", Number(made.utility).toFixed(3), "utility, 1 is unchanged") : null,
    made.hidden ? card("hidden", figure(made.hidden), hidden) : card("changed", figure(made.changed), `changed of ${every}`),
    made.suppressed && made.cost ? card("cost", figure(made.cost), `cost of what is hidden${made.bound ? `; none is below ${figure(made.bound)}` : ""}`) : null,
  ];
}

// Why there is no R2, in plain words.
function unmeasured(made, measured) {
  if (measured.unmeasured) return el("p", { class: "small quiet", id: "no-r2" }, `R2 compares a release with the original count by count. This one hides ${figure(made.hidden)} figures, so it has no R2; the audit says what can be worked out about them.`);
  return measured.error ? el("p", { class: "small quiet", id: "no-r2" }, `R2 is not known: ${measured.error.message}`) : null;
}

function describe(node, { cells, all, places, hidden, rest }, i, was) {
  const judged = all && all.filter((c) => places.at(c.cell) === i);
  const text = hidden.has(i) ? "hidden" : intervalsOf(cells).get(i) || printed(cells, i);
  fill(node, el("h2", {}, nameOf(labelsOf(cells, i))), el("p", {}, "Published: ", el("strong", {}, text), was === null ? "" : `; the truth, which stays here: ${was}.`),
    judged === null ? el("p", { class: "quiet" }, "auditing …") : secrecy(judged, { rest }));
}
