// Attack: choose who looks and what they know, and see what becomes known, with the arithmetic that proves it.

import { run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { browse } from "./browse.js";
import { Places, labelsOf, nameOf, printed } from "./cells.js";
import { el, failure, figure, fill, progressBar } from "./dom.js";
import { form } from "./form.js";
import { checkLedger, earlier, learnt } from "./ledger.js";
import { withProofs } from "./proofs.js";
import { levelOf } from "./protect.js";
import { MOST, beyond, bitsLegend, bitsText, readAs, secrecy, tone } from "./see.js";
import { change, state } from "./state.js";

const WHO = {
  outsider: ["An outsider", "who reads what is published, and knows how it was made", []],
  insider: ["An insider", "who contributed to a cell and knows their own part", ["insider"]],
  coalition: ["A coalition", "of contributors who pool what they know", ["coalition"]],
  respondents: ["Every contributor", "each alone or one of two, from a file of contributions", ["contributions", "contributor", "contribution", "holding", "within", "coalition"]],
};
// Without these an attacker knows no more than an outsider.
const NEEDED = { insider: ["insider", "Say what the insider knows: a cell and their own part in it, as "], coalition: ["coalition", "Say what the members know, one line each: a cell and their own part in it, as "], respondents: ["contributions", "Choose the file of contributions, one row each; its columns are named below it."] };
const ALWAYS = ["law", "know", "min_width", "max_dr"];

export async function attack(screen, { still }) {
  const release = state.release || state.table;
  const asked = { who: "outsider", releases: [], ledger: false, entries: [], options: {}, ...state.attack };
  const options = asked.options[asked.who] || {};
  const result = el("div", { id: "attack-result" });
  const set = (values) => { change({ attack: { ...asked, ...values } }, { remember: true }); attack(screen, { still }); };
  const others = bench.files.filter((f) => /\.(csv|parquet|tab)$/i.test(f.name) && ![release, state.table, state.file].includes(f.name));
  const box = (attributes, words, on) => el("label", { class: "check" }, el("input", { ...attributes, on: { change: on } }), el("span", {}, words));
  const who = Object.entries(WHO).map(([name, [title, words]]) => box({ type: "radio", name: "who", value: name, checked: asked.who === name }, [title, el("span", { class: "help" }, words)], () => set({ who: name })));
  const linked = others.map((f) => box({ type: "checkbox", "data-linked": f.name, checked: asked.releases.includes(f.name) }, f.name, (e) => set({ releases: e.target.checked ? [...asked.releases, f.name] : asked.releases.filter((n) => n !== f.name) })));
  const before = bench.ledger ? el("div", {}, box({ type: "checkbox", id: "with-ledger", checked: asked.ledger }, `every release in ${bench.ledger}`, (e) => set({ ledger: e.target.checked })), earlier(asked, (entries) => set({ entries }))) : el("p", { class: "small quiet" }, "No ledger is open; discreet workbench --ledger FILE adds what is published already.");
  let timer = 0;
  const wanted = [...WHO[asked.who][2], ...ALWAYS];
  const fields = form({ ...bench.commands.audit, parameters: wanted.map((name) => bench.commands.audit.parameters.find((p) => p.name === name)) }, options, { first: wanted.filter((n) => n !== "know" && n !== "law"), files: bench.files, onChange: (given) => {
    // What one attacker knows is kept for them, what all share for all.
    const shared = Object.fromEntries(ALWAYS.map((name) => [name, given[name]]));
    asked.options = Object.fromEntries(Object.keys(WHO).map((name) => [name, { ...(name === asked.who ? given : asked.options[name]), ...shared }]));
    change({ attack: asked }, { remember: true });
    clearTimeout(timer);
    timer = setTimeout(() => look(release, asked, result, still), 350);
  } });
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("h2", {}, "Who looks"), el("p", { class: "small quiet" }, `at ${release}`), el("fieldset", {}, el("legend", {}, "attacker"), who), fields,
    el("fieldset", {}, el("legend", {}, "other published tables they hold"), linked.length ? linked : el("p", { class: "small quiet" }, "Open other tables on the first screen to add them."), before))), result));
  await look(release, asked, result, still);
}

let turn = 0;

async function look(release, asked, node, onScreen) {
  turn += 1;
  const mine = turn;
  const still = () => onScreen() && mine === turn; // what is newer replaces what is older
  const options = asked.options[asked.who] || {};
  const [field, words] = NEEDED[asked.who] || [];
  if (field && !(options[field] || []).length) {
    const shown = field === "contributions" ? null : el("code", {}, await example(release).catch(() => "CELL:VALUE"));
    if (!still()) return;
    fill(node, el("p", { class: "verdict warn", id: "needed" }, words, shown));
    showCommand(`discreet audit --${field}=… ${release}`);
    return;
  }
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  fill(node, bar.node);
  const own = release === state.table ? readAs("audit") : {};
  const wanted = [...WHO[asked.who][2], ...ALWAYS];
  const known = Object.fromEntries(Object.entries(options).filter(([name, value]) => wanted.includes(name) && value !== undefined));
  try {
    const [job, shown] = await Promise.all([
      run("audit", { releases: [release, ...asked.releases], ...own, ...known, top: MOST }, { watch: (j) => bar.show(j), signal: stop.signal }),
      run("inspect", { file: release, cells: true, ...(release === state.table ? readAs("inspect") : {}) }),
    ]);
    if (!still()) return;
    showCommand(job.command);
    const ledger = el("div", {});
    const view = table(shown.result.cells, job.result);
    const head = el("div", {}, verdict(job.result));
    fill(node, head, view.node, ledger, worst(job.result));
    const told = (check) => { view.add(check ? learnt(check) : []); fill(head, verdict(check ? together(job.result, check) : { verdict: "incomplete", sentence: `Alone: ${job.result.sentence} Beside earlier releases it could not be checked.` })); };
    if (asked.ledger || asked.entries.length) await checkLedger(ledger, release, still, { beside: asked.ledger ? [] : asked.entries, told });
  } catch (error) { if (still()) fill(node, failure(error), release === state.table && state.content !== "release" ? el("p", { class: "small quiet" }, "This is the original; make a release on the Protect screen, then attack that.") : null); }
}

// A cell of the release, written as an option wants it.
async function example(release) {
  const { result } = await run("inspect", { file: release, cells: true, ...(release === state.table ? readAs("inspect") : {}) });
  const i = result.cells.hidden[0] ?? 0;
  return `${Object.entries(labelsOf(result.cells, i)).map(([d, l]) => `${d}=${l}`).join(",")}:1`;
}

// The worse of both verdicts stands: what is safe alone need not be safe beside earlier releases.
const together = (a, check) => (a.verdict === "unsafe" || check.verdict === "safe" ? a : { verdict: check.verdict, sentence: `Alone: ${a.sentence} Beside earlier releases: ${check.sentence}` });
const verdict = (a) => el("div", { class: `verdict ${tone(a.verdict)}`, id: "verdict", "data-verdict": a.verdict }, el("strong", {}, { safe: "Safe against this attacker", unsafe: "Unsafe: too much can be worked out", incomplete: "Not decided" }[a.verdict]), el("p", {}, a.sentence));

function table(cells, a) {
  const places = new Places(cells);
  let known = new Map();
  const learn = (list) => { known = new Map(); for (const c of list) { const i = places.at(c.cell); if (i !== undefined) known.set(i, [...(known.get(i) || []), c]); } };
  learn(a.cells);
  const hidden = new Set(cells.hidden);
  const worstOf = (i) => (known.get(i) || []).filter((c) => c.subject === "value").reduce((best, c) => (!best || levelOf(c) > levelOf(best) ? c : best), null);
  const detail = el("section", { class: "panel", id: "detail", "aria-live": "polite" }, el("p", { class: "quiet" }, "Choose a cell to see what is known of it."));
  const face = (i) => {
    const c = worstOf(i);
    const text = c ? (c.determined ? `= ${figure(c.lower)}` : `${figure(c.lower)}–${figure(c.upper)}`) : hidden.has(i) ? "×" : printed(cells, i);
    const unsafe = (known.get(i) || []).find((one) => one.verdict === "unsafe");
    return { text, hidden: hidden.has(i), level: c ? levelOf(c) : unsafe ? 5 : 0, flag: Boolean(unsafe), words: c || unsafe ? `${(unsafe || c).verdict}; ${(unsafe || c).attacker}` : "" };
  };
  let width = 0;
  for (const c of a.cells) width = Math.max(width, figure(c.lower).length + figure(c.upper).length + 2);
  const unsafe = (i) => (known.get(i) || []).some((c) => c.verdict === "unsafe");
  const filters = { unsafe: ["unsafe ones", unsafe], hidden: ["hidden ones", (i) => hidden.has(i)], exact: ["worked out exactly", (i) => (known.get(i) || []).some((c) => c.determined)] };
  const grid = browse(cells, { name: "what is known", width, face, filters, flagged: "unsafe", onSelect: (i) => fill(detail, el("h2", {}, nameOf(labelsOf(cells, i))), el("p", {}, hidden.has(i) ? "Hidden." : `Published: ${printed(cells, i)}.`), hidden.has(i) && !known.has(i) && !a.not_shown ? el("p", {}, "Not asked about.") : secrecy(known.get(i), { rest: a.not_shown })) });
  requestAnimationFrame(() => grid.draw());
  const more = beyond(a);
  return { node: el("div", {}, grid.node, el("p", { class: "legend" }, el("span", {}, el("i", { class: "ih" }), "× hidden"), bitsLegend()), more && el("p", { class: "small quiet" }, more), detail), add(found) { learn([...a.cells, ...found]); grid.draw(); } };
}

function worst(a) {
  const all = a.counts.safe + a.counts.unsafe + a.counts.incomplete;
  const rows = a.cells.slice(0, 12).map((c) => [nameOf(c.cell), `${figure(c.lower)} to ${figure(c.upper)}`, bitsText(c), c.attacker, c.verdict]);
  return rows.length ? el("section", { class: "panel" }, el("h2", {}, "What is known best"), withProofs(["cell", "between", "bits", "by whom", "verdict"], rows, a.cells.slice(0, 12).map((c) => c.proof), { words: [3, 4] }), all > rows.length ? el("p", { class: "small quiet" }, `and ${figure(all - rows.length)} more, none of them known better`) : null) : null;
}
