// See: the table coloured by what the rules and the measures say of its cells, and each cell explained.

import { run } from "./api.js";
import { bench, go, showCommand } from "./app.js";
import { browse } from "./browse.js";
import { Places, labelsOf, nameOf, printed } from "./cells.js";
import { dataTable, el, failure, figure, fill, risk } from "./dom.js";
import { folded } from "./proofs.js";
import { change, state } from "./state.js";

// How the file is read, in the words of a command: the column of figures is called count by some and value by others.
export function readAs(command, reading = state.reading) {
  const known = new Set(bench.commands[command].parameters.map((p) => p.name));
  const found = Object.entries(reading).map(([name, value]) => [name === "count" && !known.has("count") && known.has("value") ? "value" : name, value]);
  return Object.fromEntries(found.filter(([name]) => known.has(name)));
}

// A command as it is typed, before it has run.
const quoted = (text) => (/^[\w.,:=/-]+$/.test(text) ? text : `'${text}'`);
export const typed = (command) => ["discreet", command, ...Object.entries(readAs(command)).map(([name, value]) => quoted(`--${name.replaceAll("_", "-")}=${value}`)), quoted(state.table)].join(" ");

// A release without its original: there is nothing to protect, only to audit. A .tab file holds the truth beside it.
export const alone = () => state.content === "release" && !/\.tab$/i.test(state.table);
export const nothingToProtect = () => el("section", { class: "panel", id: "alone" }, el("h2", {}, `${state.table} is a release`), el("p", {}, "It says what is published; protection begins with the original. Open the original to protect it, or see what this release gives away."), el("p", {}, el("button", { type: "button", class: "primary", on: { click: () => go("attack") } }, "Attack the release"), " ", el("button", { type: "button", on: { click: () => go("decide") } }, "Reach a verdict on it")));

export function rulesOf() {
  if (state.rules.length) return state.rules;
  return state.magnitudes ? ["p=10", "threshold=3"] : ["threshold=3"];
}

export const termsBar = (terms) => {
  const all = [terms.zeros, terms.concentration, terms.size];
  const whole = Math.max(all.reduce((a, b) => a + b, 0), 1e-12);
  return el("div", { class: "terms", role: "img", "aria-label": `zeros ${risk(all[0])}, concentration ${risk(all[1])}, size ${risk(all[2])}` }, all.map((t, i) => el("i", { class: `t${i}`, style: { width: `${(100 * t) / whole}%` } })));
};
export const termsKey = (terms) => el("p", { class: "small quiet key" }, ["zeros", "concentration", "size"].map((name, i) => el("span", {}, el("i", { class: `t${i}` }), `${name} ${risk(terms[name])}`)));

// Sensitive cells darken with how far they are beyond the rule's limit.
const levelBy = (s) => { const far = Math.max(...s.figures.map((f) => (f.limit ? f.excess / f.limit : 1))); return far >= 0.6 ? 5 : far >= 0.3 ? 4 : 3; };

export const MOST = 2000; // figures of an audit that the page gets, the best known; the others are counted
export const beyond = (audit) => (audit.not_shown ? `The ${figure(audit.cells.length)} figures known best are coloured; none of the other ${figure(audit.not_shown)} is known better.` : "");

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
  const audited = cells.hidden.length ? await attempt("audit", { releases: [state.table], ...readAs("audit"), top: MOST }) : null;
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
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("h2", {}, "A cell explained"), el("p", { class: "quiet" }, "Choose a cell, with the mouse or the arrow keys."));
  const noted = (dimension, label) => { const s = slices.get(`${dimension.name}\u0000${label}`); return s ? risk(s.value) : ""; };
  const face = (i) => {
    const s = sensitive.get(i);
    const worst = (known.get(i) || [])[0];
    const words = [s ? `sensitive: ${s.reason}` : "", worst ? `a reader knows: ${figure(worst.lower)} to ${figure(worst.upper)}` : ""].filter(Boolean).join("; ");
    return { text: hidden.has(i) ? "×" : printed(cells, i), hidden: hidden.has(i), level: s ? levelBy(s) : worst && worst.determined ? 5 : 0, flag: Boolean(s) || Boolean(worst && worst.verdict === "unsafe"), words };
  };
  const rowNote = slices.size ? { title: "risk", text: (layout, r) => (layout.down === null ? "" : noted(cells.dimensions[layout.down], layout.rows[r])) } : null;
  const columnNote = slices.size && cells.dimensions.length > 1 ? { text: (layout, c) => noted(cells.dimensions[layout.across], layout.columns[c]) } : null;
  const least = cells.values.reduce((most, v) => (v > 0 && v < most ? v : most), Infinity);
  const filters = { sensitive: ["sensitive ones", (i) => sensitive.has(i)], ...(hidden.size ? { hidden: ["hidden ones", (i) => hidden.has(i)] } : {}), zeros: ["zeros", (i) => !hidden.has(i) && cells.values[i] === 0], least: [`the smallest (${figure(least / 10 ** cells.decimals, cells.decimals)})`, (i) => !hidden.has(i) && cells.values[i] === least] };
  if (!found.result) delete filters.sensitive;
  const grid = browse(cells, { face, filters, flagged: found.result ? "sensitive" : "unsafe", name: state.table, rowNote, columnNote,
    onSelect: (i) => explain(detail, { cells, i, s: sensitive.get(i), judged: known.get(i), slices, hidden, rules: found.result ? rules : null, rest: audited && audited.result ? audited.result.not_shown : 0 }, still) });
  const m = measured.result;
  const card = (id, value, words) => el("div", { class: "card" }, el("b", { id }, value), el("span", {}, words));
  const cards = el("div", { class: "cards" },
    m && card("r1", risk(m.value), `${m.measure}${state.magnitudes ? " of the counts" : ""}, from 0 (low) to 1 (high)`),
    found.result && card("sensitive", figure(found.result.sensitive.length), `sensitive of ${figure(found.result.cells)} cells and totals`),
    hidden.size ? card("hidden", figure(hidden.size), "hidden figures") : null,
    audited && audited.result && el("div", { class: "card" }, el("b", { id: "audit", class: tone(audited.result.verdict) }, audited.result.verdict), el("span", {}, audited.result.sentence)),
    m && card("people", figure(m.people), "people or firms counted"),
    m && card("empty", `${figure(m.empty)} of ${figure(m.cells)}`, "inner cells are empty"));
  const side = el("div", {}, found.result && settings(screen, still, rules), detail, m && el("section", { class: "panel" }, el("h2", {}, `${m.measure} and its terms`), el("p", { class: "small" }, m.sentence), termsBar(m.terms), termsKey(m.terms), worstSlices(m.slices)));
  const failed = [found, measured, audited].filter((one) => one && one.error);
  const troubles = hidden.size && !(audited && audited.error) && failed.length ? ["Rules and risk measures need every figure. Of a release that hides some, the audit says what can be worked out."] : [...new Set(failed.map((one) => one.error.message))];
  const more = audited && audited.result ? beyond(audited.result) : "";
  fill(screen, cards, el("div", { class: "columns" }, el("div", {}, grid.node, legend(Boolean(found.result), Boolean(audited && audited.result)), [more, ...troubles].filter(Boolean).map((words) => el("p", { class: "small quiet" }, words))), side));
  grid.draw();
}

export const tone = (verdict) => ({ safe: "good", unsafe: "bad" })[verdict] || "warn";
const swatch = (name, words) => el("span", {}, el("i", { class: name }), words);
const legend = (rules, audited) => el("p", { class: "legend" },
  rules && [el("span", {}, "sensitive by a rule (!):"), [3, 4, 5].map((n) => swatch(`i${n}`, ["just", "clearly", "far beyond its limit"][n - 3]))],
  audited && [swatch("ih", "× hidden"), !rules && swatch("i5", "worked out exactly"), !rules && el("span", {}, "! unsafe")]);
// What the colours of an audited release mean: the fewer bits are left open, the darker.
export const bitsLegend = () => [[1, 2, 3, 4, 5].map((n) => swatch(`i${n}`, ["3 bits left open and more", "2 to 3 bits", "1.2 to 2 bits", "hardly any doubt", "worked out exactly"][n - 1])), el("span", {}, "! unsafe")];

function settings(screen, still, rules) {
  const value = (name) => rules.filter((r) => r.startsWith(`${name}=`)).map((r) => r.slice(name.length + 1))[0] || "";
  const named = ["threshold", "p", "dominance"];
  const others = rules.filter((r) => !named.some((name) => r === `${name}=${value(name)}`));
  const field = (name, words, example, help) => el("label", {}, el("span", {}, words), el("input", { name, value: value(name), placeholder: example }), el("span", { class: "help" }, help));
  const read = (form) => { const given = new FormData(form); return [...named.filter((n) => given.get(n).trim()).map((n) => `${n}=${given.get(n).trim()}`), ...given.get("others").split("\n").map((t) => t.trim()).filter(Boolean)]; };
  return el("form", { class: "panel", id: "rules", on: { submit: (e) => { e.preventDefault(); change({ rules: read(e.target) }, { remember: true }); see(screen, { still }); } } },
    el("div", { class: "row between" }, el("h2", {}, "Rules"), el("button", { type: "submit" }, "Apply")),
    el("div", { class: "rules" }, field("threshold", "threshold", "3", "fewest in a cell"), field("p", "p%", "10", "closest estimate, in %"), field("dominance", "dominance", "2,85", "the 2 largest, 85%")),
    el("details", { open: others.length > 0 }, el("summary", {}, "Other rules"), el("label", {}, el("span", {}, "one a line"), el("textarea", { name: "others", rows: 2, placeholder: "pq=10,50@holding", value: others.join("\n") }), el("span", { class: "help" }, "As the command line takes them, with the level behind @."))));
}

function worstSlices(slices) {
  const rows = [...slices].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, 8);
  return dataTable(["worst slices", "risk", ""], rows.map((s) => [`${s.dimension} ${s.category}`, risk(s.value), s.terms ? termsBar(s.terms) : ""]), { words: [2] });
}

// A bound errs on the safe side, also where it is rounded.
const rounded = (c, name, digits, towards) => (c.basis === "bound" ? towards(c[name] * 10 ** digits) / 10 ** digits : c[name]).toFixed(digits);
// Bits that are not shown are not without bound.
export const bitsText = (c) => (c.basis === "not shown" ? "not shown" : c.bits === null ? "∞" : rounded(c, "bits", 2, Math.floor));

// What each attacker knows of a figure, as the audit printed it: interval, bits, risk, and the proof.
export function secrecy(judged, { rest = 0, published = true } = {}) {
  if (!judged || !judged.length) return el("p", { class: "small" }, rest ? "Not among the figures that are told: it is published exactly, or no better known than they are." : published ? "Published exactly: everybody knows it, 0 bits are left open." : "Published as it is, everybody would know it: 0 bits would be left open.");
  const span = (c) => (c.upper === null ? `${figure(c.lower)} or more: nothing that is published sets an upper end` : `Between ${figure(c.lower)} and ${figure(c.upper)}${c.bits === undefined ? "" : `: ${figure(c.values)} values, ${c.basis === "not shown" ? "bits and risk not shown" : `${bitsText(c)} bits, risk ${c.dr === null ? "∞" : rounded(c, "dr", 4, Math.ceil)}`}`}`);
  return judged.map((c) => el("div", { class: "known", "data-attacker": c.attacker },
    el("h3", {}, `${c.attacker}${c.subject && c.subject !== "value" ? `, of the ${c.subject}` : ""}`),
    el("p", {}, c.determined ? el("strong", { class: "bad" }, `Worked out exactly: ${figure(c.lower)}.`) : `${span(c)}.`, ` ${c.verdict[0].toUpperCase()}${c.verdict.slice(1)}${c.faults.length ? `: ${c.faults.join("; ")}` : ""}.`),
    c.alone ? el("p", { class: "small" }, `Without the other tables: ${figure(c.alone[0])} to ${figure(c.alone[1])}.`) : null,
    c.proof ? el("p", { class: "small proof" }, el("code", {}, folded(c.proof).text)) : null));
}

async function explain(node, { cells, i, s, judged, slices, hidden, rules, rest }, still) {
  const labels = labelsOf(cells, i);
  const mine = Object.entries(labels).map(([d, l]) => [d, l, slices.get(`${d}\u0000${l}`)]).filter(([, , x]) => x);
  const told = el("div", { id: "told" });
  node.dataset.explained = "";
  fill(node, el("h2", {}, nameOf(labels)), el("p", { class: "number" }, hidden.has(i) ? "hidden" : printed(cells, i)), told,
    el("h3", {}, "What a reader knows"), secrecy(judged, { rest: hidden.has(i) ? rest : 0, published: state.content === "release" }),
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
    el("p", { class: "small" }, e.sentence || (e.contributions && e.contributions.length ? `${e.contributions.length > 1 ? "Largest contributions" : "Largest contribution"}: ${e.contributions.map((x) => figure(x)).join(" and ")}.` : "Those counted here know their own part; Attack shows what an insider, a coalition or a holder of other tables works out.")),
  ];
}
