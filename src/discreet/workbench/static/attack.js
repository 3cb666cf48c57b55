// Attack: choose who looks and what they know, and see what becomes known, with the arithmetic that proves it.

import { run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { dataTable, el, failure, figure, fill, progressBar } from "./dom.js";
import { form } from "./form.js";
import { Grid, labelsOf, layOut } from "./grid.js";
import { levelOf } from "./protect.js";
import { key } from "./see.js";
import { inLedger } from "./ledger.js";
import { change, state } from "./state.js";

export async function attack(screen, { still }) {
  const release = state.release || state.table;
  const others = bench.files.filter((f) => /\.(csv|parquet|tab)$/i.test(f.name) && f.name !== release && f.name !== state.table);
  const asked = { releases: [], options: {}, ...state.attack };
  const result = el("div", { id: "attack-result" });
  const set = (values) => { change({ attack: { ...asked, ...values } }, { remember: true }); attack(screen, { still }); };
  const linked = others.map((f) => el("label", { class: "check" }, el("input", { type: "checkbox", "data-linked": f.name, checked: asked.releases.includes(f.name), on: { change: (e) => set({ releases: e.target.checked ? [...asked.releases, f.name] : asked.releases.filter((n) => n !== f.name) }) } }), el("span", {}, f.name)));
  let timer = 0;
  const options = form(bench.commands.audit, asked.options, { first: ["law", "insider", "coalition", "contributions", "know", "min_width", "max_dr"], files: bench.files, leave: ["output", "top"], onChange: (given) => { change({ attack: { ...asked, options: given } }, { remember: true }); asked.options = given; clearTimeout(timer); timer = setTimeout(() => look(release, asked, result, still), 350); } });
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("h2", {}, "Who looks, and what they know"), el("p", { class: "small quiet" }, `An outsider holds ${release}. Add what others know: their own contribution, a coalition's, or other published tables.`), linked.length ? el("fieldset", {}, el("legend", {}, "other published tables they hold"), linked) : null, options)), result));
  await look(release, asked, result, still);
}

async function look(release, asked, node, still) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  fill(node, bar.node);
  try {
    const [job, shown] = await Promise.all([
      run("audit", { releases: [release, ...asked.releases], ...asked.options }, { watch: (j) => bar.show(j), signal: stop.signal }),
      run("inspect", { file: release, cells: true }),
    ]);
    if (!still()) return;
    showCommand(job.command);
    const ledger = el("div", {});
    fill(node, verdict(job.result), table(shown.result.cells, job.result), worst(job.result), ledger);
    await inLedger(ledger, release, still);
  } catch (error) { if (still()) fill(node, failure(error)); }
}

const verdict = (a) => el("div", { class: `verdict ${{ safe: "good", unsafe: "bad" }[a.verdict] || "warn"}`, id: "verdict", "data-verdict": a.verdict }, el("strong", {}, { safe: "Safe against this attacker", unsafe: "Unsafe: too much can be worked out", incomplete: "Not decided" }[a.verdict]), el("p", {}, a.sentence));

function table(cells, a) {
  if (!cells) return null;
  const known = new Map();
  for (const c of a.cells) { const k = key(c.cell); const had = known.get(k); if (!had || levelOf(c) > levelOf(had)) known.set(k, c); }
  const hidden = new Set(cells.hidden);
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("p", { class: "quiet" }, "Choose a cell to see what is known of it."));
  const face = (i) => {
    const c = known.get(key(labelsOf(cells, i)));
    const text = hidden.has(i) || c ? (c ? (c.determined ? `= ${figure(c.lower)}` : `${figure(c.lower)}–${figure(c.upper)}`) : "×") : figure(cells.values[i] / 10 ** cells.decimals, cells.decimals);
    return { text, hidden: hidden.has(i), level: levelOf(c), flag: c && c.verdict === "unsafe", words: c ? `${c.verdict}; ${c.attacker}` : "" };
  };
  let width = 0;
  for (const c of a.cells) width = Math.max(width, figure(c.lower).length + figure(c.upper).length + 2);
  const grid = new Grid(layOut(cells), { name: "what is known", width, face, onSelect: (i) => describe(detail, cells, i, known.get(key(labelsOf(cells, i)))) });
  requestAnimationFrame(() => grid.draw(true));
  return el("div", { class: "columns" }, grid.node, detail);
}

function describe(node, cells, i, c) {
  fill(node, el("h2", {}, Object.values(labelsOf(cells, i)).join(" · ")));
  if (!c) { node.append(el("p", {}, cells.hidden.includes(i) ? "Hidden, and not asked about." : "Published exactly.")); return; }
  node.append(el("p", {}, c.determined ? el("strong", { class: "bad" }, `Worked out exactly: ${figure(c.lower)}`) : `Between ${figure(c.lower)} and ${figure(c.upper)}: ${figure(c.values)} values, ${c.bits === null ? "∞" : c.bits.toFixed(2)} bits, risk ${c.dr === null ? "∞" : c.dr.toFixed(4)}.`),
    el("p", { class: "small" }, `By ${c.attacker}. ${c.faults.join("; ")}`), c.alone ? el("p", { class: "small" }, `Without the other tables: ${figure(c.alone[0])} to ${figure(c.alone[1])}.`) : "", c.proof ? el("p", { class: "small" }, el("code", {}, c.proof)) : "");
}

function worst(a) {
  const rows = a.cells.slice(0, 12).map((c) => [Object.values(c.cell).join(" · "), `${figure(c.lower)} to ${figure(c.upper)}`, c.bits === null ? "∞" : c.bits.toFixed(2), c.attacker, c.verdict, c.proof || ""]);
  return rows.length ? el("section", { class: "panel" }, el("h2", {}, "What is known best"), dataTable(["cell", "between", "bits", "by whom", "verdict", "proof"], rows, { words: [5] })) : null;
}
