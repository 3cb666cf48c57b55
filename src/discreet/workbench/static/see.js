// See: the table coloured by what the rules and the measures say of its cells, and each cell explained.

import { run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { Places, labelsOf, nameOf, printed } from "./cells.js";
import { dataTable, el, failure, figure, fill, risk } from "./dom.js";
import { Grid, layOut } from "./grid.js";
import { change, state } from "./state.js";

// How the file is read, in the words of a command: the column of figures is called count by some and value by others.
export function readAs(command) {
  const known = new Set(bench.commands[command].parameters.map((p) => p.name));
  const found = Object.entries(state.reading).map(([name, value]) => [name === "count" && !known.has("count") && known.has("value") ? "value" : name, value]);
  return Object.fromEntries(found.filter(([name]) => known.has(name)));
}

export function rulesOf() {
  if (state.rules.length) return state.rules;
  return state.magnitudes ? ["p=10", "threshold=3"] : ["threshold=3"];
}

export const termsBar = (terms) => {
  const all = [terms.zeros, terms.concentration, terms.size];
  const whole = Math.max(all.reduce((a, b) => a + b, 0), 1e-12);
  return el("div", { class: "terms", role: "img", "aria-label": `zeros ${risk(all[0])}, concentration ${risk(all[1])}, size ${risk(all[2])}` }, all.map((t, i) => el("i", { class: `t${i}`, style: { width: `${(100 * t) / whole}%` } })));
};
export const termsKey = (terms) => el("p", { class: "small quiet key" }, ["zeros", "concentration", "size"].map((name, i) => [el("i", { class: `t${i}` }), `${name} ${terms ? risk(terms[name]) : ""}`]));

// Sensitive cells darken with how far they are beyond the rule's limit.
const levelBy = (s) => { const far = Math.max(...s.figures.map((f) => (f.limit ? f.excess / f.limit : 1))); return far >= 0.6 ? 5 : far >= 0.3 ? 4 : 3; };

export async function see(screen, { still }) {
  const rules = rulesOf();
  fill(screen, el("p", { class: "quiet" }, "measuring …"));
  const attempt = (command, values) => run(command, values).catch((error) => ({ result: null, error }));
  const [shown, found, measured] = await Promise.all([
    run("inspect", { file: state.table, cells: true, ...readAs("inspect") }),
    attempt("rules", { table: state.table, rule: rules, ...readAs("rules") }),
    attempt("risk", { table: state.table, ...readAs("risk") }),
  ]);
  if (!still()) return;
  const { cells } = shown.result;
  const audited = cells.hidden.length ? await attempt("audit", { releases: [state.table], ...readAs("audit") }) : null;
  if (!still()) return;
  showCommand((found.result ? found : audited || found).command || shown.command);
  draw(screen, still, { cells, rules, found, measured, audited });
}

function draw(screen, still, { cells, rules, found, measured, audited }) {
  const places = new Places(cells);
  const sensitive = new Map((found.result ? found.result.sensitive : []).map((s) => [places.at(s.cell), s]));
  const known = new Map();
  for (const c of audited && audited.result ? audited.result.cells : []) { const i = places.at(c.cell); known.set(i, [...(known.get(i) || []), c]); }
  const slices = new Map((measured.result ? measured.result.slices : []).map((s) => [`${s.dimension}\u0000${s.category}`, s]));
  const hidden = new Set(cells.hidden);
  const layout = layOut(cells);
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("h2", {}, "A cell explained"), el("p", { class: "quiet" }, "Choose a cell, with the mouse or the arrow keys."));
  const noted = (dimension, label) => { const s = slices.get(`${dimension.name}\u0000${label}`); return s ? risk(s.value) : ""; };
  const down = layout.dims.length === 1 ? cells.dimensions[layout.dims[0]] : null;
  const across = layout.across === null ? null : cells.dimensions[layout.across];
  const face = (i) => {
    const s = sensitive.get(i);
    const worst = (known.get(i) || [])[0];
    const words = [s ? `sensitive: ${s.reason}` : "", worst ? `a reader knows: ${figure(worst.lower)} to ${figure(worst.upper)}` : ""].filter(Boolean).join("; ");
    return { text: hidden.has(i) ? "×" : printed(cells, i), hidden: hidden.has(i), level: s ? levelBy(s) : worst && worst.determined ? 5 : 0, flag: Boolean(s) || Boolean(worst && worst.verdict === "unsafe"), words };
  };
  const grid = new Grid(layout, { face, name: state.table, rowNote: down && slices.size ? { title: "risk", text: (r) => noted(down, layout.rows[r]) } : null, columnNote: across && slices.size ? (c) => noted(across, layout.columns[c]) : null,
    onSelect: (i) => explain(detail, { cells, i, s: sensitive.get(i), judged: known.get(i), slices, hidden, rules: found.result ? rules : null }, still) });
  const m = measured.result;
  const card = (id, value, words) => el("div", { class: "card" }, el("b", { id }, value), el("span", {}, words));
  const cards = el("div", { class: "cards" },
    m && card("r1", risk(m.value), `${m.measure}, from 0 (low) to 1 (high)`),
    found.result && card("sensitive", figure(found.result.sensitive.length), `sensitive of ${figure(found.result.cells)} cells`),
    hidden.size ? card("hidden", figure(hidden.size), `hidden of ${figure(cells.values.length)} figures`) : null,
    audited && audited.result && card("audit", audited.result.verdict, audited.result.sentence),
    m && card("people", figure(m.people), "people"),
    m && card("empty", `${figure(m.empty)} of ${figure(m.cells)}`, "inner cells are empty"));
  const side = el("div", {}, detail, m && el("section", { class: "panel" }, el("h2", {}, `${m.measure} and its terms`), el("p", { class: "small" }, m.sentence), termsBar(m.terms), termsKey(m.terms), worstSlices(m.slices)), found.result && settings(screen, still, rules));
  const troubles = [found, measured, audited].filter((one) => one && one.error).map((one) => el("p", { class: "small quiet" }, one.error.message));
  fill(screen, cards, el("div", { class: "columns" }, el("div", {}, grid.node, legend(), troubles), side));
  grid.draw(true);
}

const legend = () => el("p", { class: "legend" }, el("span", {}, "sensitive by a rule (!):"), [3, 4, 5].map((n) => el("span", {}, el("i", { class: `i${n}` }), ["just", "clearly", "far beyond its limit"][n - 3])), el("span", {}, el("i", { class: "ih" }), "× hidden"));

function settings(screen, still, rules) {
  const value = (name) => rules.filter((r) => r.startsWith(`${name}=`)).map((r) => r.slice(name.length + 1))[0] || "";
  const named = ["threshold", "p", "dominance"];
  const others = rules.filter((r) => !named.some((name) => r === `${name}=${value(name)}`));
  const field = (name, words, help) => el("label", {}, el("span", {}, words), el("input", { name, value: value(name), placeholder: help }));
  const read = (form) => { const given = new FormData(form); return [...named.filter((n) => given.get(n).trim()).map((n) => `${n}=${given.get(n).trim()}`), ...given.get("others").split("\n").map((t) => t.trim()).filter(Boolean)]; };
  return el("form", { class: "panel", id: "rules", on: { submit: (e) => { e.preventDefault(); change({ rules: read(e.target) }, { remember: true }); see(screen, { still }); } } },
    el("h2", {}, "Rules"), el("div", { class: "pair" }, field("threshold", "threshold", "3"), field("p", "p%", "10"), field("dominance", "dominance n,k", "2,85")),
    el("label", {}, el("span", {}, "others, one a line"), el("textarea", { name: "others", rows: 2, placeholder: "pq=10,50@holding", value: others.join("\n") })), el("button", { type: "submit" }, "Apply"));
}

function worstSlices(slices) {
  const rows = [...slices].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, 8);
  return dataTable(["worst slices", "risk", ""], rows.map((s) => [`${s.dimension} ${s.category}`, risk(s.value), s.terms ? termsBar(s.terms) : ""]), { words: [2] });
}

// What each attacker knows of a figure, as the audit printed it: interval, bits, risk, and the proof.
export function secrecy(judged) {
  if (!judged || !judged.length) return el("p", { class: "small" }, "Published exactly: everybody knows it, 0 bits are left open.");
  return judged.map((c) => el("div", { class: "known", "data-attacker": c.attacker },
    el("h3", {}, `${c.attacker}${c.subject && c.subject !== "value" ? `, of the ${c.subject}` : ""}`),
    el("p", {}, c.determined ? el("strong", { class: "bad" }, `Worked out exactly: ${figure(c.lower)}`) : `Between ${figure(c.lower)} and ${figure(c.upper)}${c.bits === undefined ? "" : `: ${figure(c.values)} values, ${c.bits === null ? "∞" : c.bits.toFixed(2)} bits, risk ${c.dr === null ? "∞" : c.dr.toFixed(4)}`}.`, ` ${c.verdict}${c.faults.length ? `: ${c.faults.join("; ")}` : ""}`),
    c.alone ? el("p", { class: "small" }, `Without the other tables: ${figure(c.alone[0])} to ${figure(c.alone[1])}.`) : null,
    c.proof ? el("p", { class: "small proof" }, el("code", {}, c.proof)) : null));
}

async function explain(node, { cells, i, s, judged, slices, hidden, rules }, still) {
  const labels = labelsOf(cells, i);
  const mine = Object.entries(labels).map(([d, l]) => [d, l, slices.get(`${d}\u0000${l}`)]).filter(([, , x]) => x);
  const told = el("div", { id: "told" });
  node.dataset.explained = "";
  fill(node, el("h2", {}, nameOf(labels)), el("p", { class: "number" }, hidden.has(i) ? "hidden" : printed(cells, i)), told,
    el("h3", {}, "What a reader knows"), secrecy(judged),
    mine.length ? [el("h3", {}, "Risk around it"), dataTable(["slice", "risk"], mine.map(([d, l, x]) => [`${d} ${l}`, risk(x.value)]))] : null);
  node.chosen = i;
  try {
    if (rules) {
      const job = await run("rules", { table: state.table, ...readAs("rules"), rule: rules, explain: Object.entries(labels).map(([d, l]) => `${d}=${l}`).join(",") });
      if (!still() || node.chosen !== i) return;
      showCommand(job.command);
      fill(told, explained(job.result.explain, s));
    }
  } catch (error) { if (still() && node.chosen === i) fill(told, failure(error)); }
  if (node.chosen === i) node.dataset.explained = nameOf(labels);
}

function explained(e, s) {
  return [
    el("p", {}, el("strong", { class: e.sensitive ? "bad" : "good" }, e.sensitive ? "Sensitive." : "Not sensitive by these rules.")),
    el("ul", { class: "reasons" }, e.rules.map((r) => el("li", {}, el("span", { class: r.sensitive ? "bad" : "good" }, r.sensitive ? "✗ " : "✓ "), `${r.rule}: ${r.reason}`))),
    s ? el("p", { class: "small" }, `Protection asked for: ${figure(e.lower, 1)} below and ${figure(e.upper, 1)} above.`) : null,
    el("h3", {}, "Who could know more"),
    el("p", { class: "small" }, e.sentence || (e.contributions && e.contributions.length ? `Largest contributions: ${e.contributions.map((x) => figure(x)).join(" and ")}.` : "Those counted here know their own part; Attack shows what an insider, a coalition or a holder of other tables works out.")),
  ];
}
