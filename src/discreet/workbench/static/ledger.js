// The ledger: what this release gives away together with everything that is published already.

import { run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { nameOf } from "./cells.js";
import { dataTable, el, failure, figure, fill, toast } from "./dom.js";
import { readAs } from "./see.js";
import { change, state } from "./state.js";

const request = (command, release) => ({ release, ...(release === state.table ? readAs(command) : {}), period: state.period || "", title: state.title || "" });

// What is published already, folded away.
export function published() {
  const list = el("div", {});
  const show = async () => {
    try {
      const { result } = await run("ledger list", {});
      fill(list, result.releases.length ? dataTable(["title", "period", "published", "figures", "hidden"], result.releases.map((e) => [e.title, e.period || "any", e.published, figure(e.figures), figure(e.hidden)]), { words: [1, 2] }) : el("p", { class: "small quiet" }, "It is empty."));
    } catch (error) { fill(list, failure(error)); }
  };
  return el("details", { id: "earlier", on: { toggle: (e) => { if (e.target.open) show(); } } }, el("summary", {}, "what is in it"), list);
}

// Checks a release against all earlier ones; `told` gets the answer and what becomes known, in the words of an audit.
export async function checkLedger(node, release, still, told = null) {
  const outcome = el("div", {});
  const again = () => checkLedger(node, release, still, told);
  const field = (name, words, help) => el("label", { for: name }, el("span", {}, words), el("input", { id: name, placeholder: help, value: state[name] || "", on: { change: (e) => { change({ [name]: e.target.value }); again(); } } }));
  fill(node, el("section", { class: "panel" }, el("h2", {}, `Together with ${bench.ledger}`), el("div", { class: "pair" }, field("title", "title", "what it is called"), field("period", "period", "2024")), outcome));
  fill(outcome, el("p", { class: "quiet" }, "checking …"));
  try {
    const job = await run("ledger check", request("ledger check", release));
    if (!still()) return null;
    showCommand(job.command);
    const c = job.result;
    if (told) told(c, c.findings.map((f) => ({ cell: f.cell, subject: "value", lower: f.lower, upper: f.upper, determined: f.exact, proof: f.subtraction, attacker: `holder of ${f.releases.join(" + ")}`, verdict: "unsafe", faults: [f.reason], alone: null })));
    fill(outcome, el("div", { class: `verdict ${{ safe: "good", unsafe: "bad" }[c.verdict] || "warn"}`, id: "ledger-verdict", "data-verdict": c.verdict }, el("strong", {}, { safe: "Nothing is given away beside earlier releases", unsafe: "Together with earlier releases it gives figures away" }[c.verdict] || "Not decided"), el("p", {}, c.sentence)),
      c.findings.length ? dataTable(["cell", "between", "because", "subtraction"], c.findings.slice(0, 12).map((f) => [nameOf(f.cell), f.exact ? `= ${figure(f.lower)}` : `${figure(f.lower)} to ${figure(f.upper)}`, `${f.reason} (${f.releases.join(" + ")})`, f.subtraction]), { words: [2, 3] }) : null);
    return c;
  } catch (error) { if (still()) fill(outcome, failure(error)); return null; }
}

// The ledger where it is decided: checked, and entered once nothing speaks against it.
export async function inLedger(node, release, still) {
  if (!bench.ledger) { fill(node, el("p", { class: "small quiet" }, "No ledger is open; start the workbench with --ledger FILE to check this against what is published already.")); return null; }
  if (!release) return null;
  const checked = el("div", {});
  const entry = el("div", {});
  fill(node, checked, entry);
  const c = await checkLedger(checked, release, still);
  if (!c || !still()) return c;
  const enter = el("button", { type: "button", id: "enter", disabled: c.verdict !== "safe", on: { click: async () => {
    try { const job = await run("ledger add", request("ledger add", release)); showCommand(job.command); fill(entry, el("p", { id: "entered" }, `Entered in ${bench.ledger} as ${job.result.title}.`)); toast("entered in the ledger"); } catch (error) { entry.append(failure(error)); }
  } } }, "Enter it in the ledger");
  fill(entry, el("p", {}, enter));
  return c;
}
