// See: the table coloured by what the rules and the measures say of its cells, and each cell explained.

import { run } from "./api.js";
import { showCommand } from "./app.js";
import { dataTable, el, failure, figure, fill, risk } from "./dom.js";
import { Grid, labelsOf, layOut } from "./grid.js";
import { change, state } from "./state.js";

const key = (labels, total = "Total") => JSON.stringify(Object.entries(labels).filter(([, v]) => v !== total).sort());
const reading = () => Object.fromEntries(Object.entries(state.reading).filter(([name]) => ["layout", "count", "total", "dimensions", "delimiter"].includes(name)));

export function rulesOf() {
  if (Object.keys(state.rules).length) return state.rules;
  return state.tabulate && state.tabulate.value ? { p_percent: 10, threshold: 3 } : { threshold: 3 };
}

export const termsBar = (terms) => {
  const all = [terms.zeros, terms.concentration, terms.size];
  const whole = Math.max(all.reduce((a, b) => a + b, 0), 1e-12);
  return el("div", { class: "terms", role: "img", "aria-label": `zeros ${risk(all[0])}, concentration ${risk(all[1])}, size ${risk(all[2])}` }, all.map((t, i) => el("i", { class: `t${i}`, style: { width: `${(100 * t) / whole}%` } })));
};
export const termsKey = () => el("p", { class: "small quiet key" }, el("i", { class: "t0" }), "zeros", el("i", { class: "t1" }), "concentration", el("i", { class: "t2" }), "size");

export async function see(screen, { still }) {
  const rules = rulesOf();
  fill(screen, el("p", { class: "quiet" }, "measuring …"));
  const values = { table: state.table, ...reading() };
  const [shown, found, measured] = await Promise.all([
    run("inspect", { file: state.table, cells: true, ...reading() }),
    run("rules", { ...values, ...rules }),
    run("risk", values).catch((error) => ({ result: null, error })),
  ]);
  if (!still()) return;
  showCommand(found.command);
  const cells = shown.result.cells;
  const sensitive = new Map(found.result.sensitive.map((s) => [key(s.cell), s]));
  const slices = new Map((measured.result ? measured.result.slices : []).map((s) => [`${s.dimension}\u0000${s.category}`, s]));
  const scale = 10 ** cells.decimals;
  const hidden = new Set(cells.hidden);
  const layout = layOut(cells);
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("h2", {}, "A cell explained"), el("p", { class: "quiet" }, "Choose a cell, with the mouse or the arrow keys."));
  const down = layout.dims.length === 1 ? cells.dimensions[layout.dims[0]] : null;
  const rowNote = down && slices.size ? { title: "risk", text: (r) => { const s = slices.get(`${down.name}\u0000${layout.rows[r]}`); return s ? risk(s.value) : ""; } } : null;
  const across = layout.across === null ? null : cells.dimensions[layout.across];
  const columnNote = across && slices.size ? (c) => { const s = slices.get(`${across.name}\u0000${layout.columns[c]}`); return s ? risk(s.value) : ""; } : null;
  const face = (i) => {
    const s = sensitive.get(key(labelsOf(cells, i)));
    return { text: hidden.has(i) ? "×" : figure(cells.values[i] / scale, cells.decimals), hidden: hidden.has(i), level: s ? 5 : 0, flag: Boolean(s), words: s ? `sensitive: ${s.reason}` : "" };
  };
  const grid = new Grid(layout, { face, rowNote, columnNote, name: state.table, onSelect: (i) => explain(detail, cells, i, sensitive, slices, hidden, rules) });
  const settings = el("form", { class: "panel", on: { submit: (e) => { e.preventDefault(); const given = {}; for (const [n, v] of new FormData(e.target)) if (v !== "") given[n] = n === "dominance" ? [v] : Number(v); change({ rules: given }, { remember: true }); see(screen, { still }); } } },
    el("h2", {}, "Rules"), el("div", { class: "pair" },
      el("label", {}, el("span", {}, "threshold"), el("input", { name: "threshold", type: "number", min: 1, value: rules.threshold ?? "" })),
      el("label", {}, el("span", {}, "p%"), el("input", { name: "p_percent", type: "number", min: 0, step: "any", value: rules.p_percent ?? "" })),
      el("label", {}, el("span", {}, "dominance n,k"), el("input", { name: "dominance", value: (rules.dominance || [""])[0] }))), el("button", { type: "submit" }, "Apply"));
  const m = measured.result;
  const cards = el("div", { class: "cards" },
    m && el("div", { class: "card" }, el("b", { id: "r1" }, risk(m.value)), el("span", {}, `${m.measure}, from 0 (low) to 1 (high)`)),
    el("div", { class: "card" }, el("b", { id: "sensitive" }, figure(found.result.sensitive.length)), el("span", {}, `sensitive of ${figure(found.result.cells)} cells`)),
    m && el("div", { class: "card" }, el("b", {}, figure(m.people)), el("span", {}, "people")),
    m && el("div", { class: "card" }, el("b", {}, `${figure(m.empty)} of ${figure(m.cells)}`), el("span", {}, "inner cells are empty")));
  const side = el("div", {}, detail, m && el("section", { class: "panel" }, el("h2", {}, `${m.measure} and its terms`), el("p", { class: "small" }, m.sentence), termsBar(m.terms), termsKey(), worst(m.slices)), settings);
  fill(screen, cards, el("div", { class: "columns" }, el("div", {}, grid.node, legend("sensitive by a rule")), side), measured.error ? el("p", { class: "small quiet" }, measured.error.message) : null);
  grid.draw(true);
}

const legend = (words) => el("p", { class: "legend" }, el("span", {}, el("i", { class: "i5" }), `! ${words}`), el("span", {}, el("i", { class: "ih" }), "× hidden"));

function worst(slices) {
  const rows = [...slices].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, 8);
  return dataTable(["worst slices", "risk", ""], rows.map((s) => [`${s.dimension} ${s.category}`, risk(s.value), s.terms ? termsBar(s.terms) : ""]), { words: [2] });
}

async function explain(node, cells, i, sensitive, slices, hidden, rules) {
  const labels = labelsOf(cells, i);
  const s = sensitive.get(key(labels));
  const value = hidden.has(i) ? "hidden" : figure(cells.values[i] / 10 ** cells.decimals, cells.decimals);
  const mine = Object.entries(labels).map(([d, l]) => [d, l, slices.get(`${d}\u0000${l}`)]).filter(([, , x]) => x);
  fill(node, el("h2", {}, Object.values(labels).join(" · ")), el("p", { class: "number" }, value),
    el("p", {}, s ? el("strong", { class: "bad" }, "Sensitive. ") : el("strong", { class: "good" }, "Not sensitive by these rules. "), s ? s.reason : ""),
    s && el("p", { class: "small" }, `Protection asked for: ${figure(s.lower, 1)} below and ${figure(s.upper, 1)} above.`),
    mine.length ? dataTable(["slice", "risk"], mine.map(([d, l, x]) => [`${d} ${l}`, risk(x.value)])) : null,
    el("p", { class: "small quiet" }, "Published as it is, everybody knows this figure. Who could work out more after protection: see Attack."));
  if (!s) return;
  try {
    const told = await run("rules", { table: state.table, ...reading(), ...rules, explain: Object.entries(labels).map(([d, l]) => `${d}=${l}`).join(",") });
    if (told.result.explanation) node.append(el("details", {}, el("summary", {}, "The rules' arithmetic"), el("pre", { class: "small" }, typeof told.result.explanation === "string" ? told.result.explanation : JSON.stringify(told.result.explanation, null, 1))));
  } catch (error) { node.append(failure(error)); }
}

export { key, legend, reading };
