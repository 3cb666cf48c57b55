// The ledger: what this release gives away together with what is published already.

import { run } from "./api.js";
import { bench, refreshLedger, showCommand } from "./app.js";
import { nameOf } from "./cells.js";
import { button, dataTable, el, failure, figure, fill, toast } from "./dom.js";
import { readAs, tone } from "./see.js";
import { change, state } from "./state.js";

const SHOWN = 12; // findings in the table
const request = (command, release) => ({ release, ...(release === state.table ? readAs(command) : {}), period: state.period || "", title: state.title || "" });

let unfolded = false; // whether the list of earlier releases is open, also when the screen is drawn anew

// What is published already: a line each, to choose which of them an attacker holds; `chosen` gets the ids.
export function earlier(asked, chosen) {
  const list = el("div", {});
  const folded = el("details", { id: "earlier", open: unfolded || asked.entries.length > 0 }, el("summary", {}, asked.ledger ? "what is in it" : "choose which"), list);
  const line = (e) => el("label", { class: "check" }, el("input", { type: "checkbox", "data-entry": e.id, checked: asked.ledger || asked.entries.includes(e.id), disabled: asked.ledger || e.unseen, on: { change: (event) => chosen(event.target.checked ? [...asked.entries, e.id] : asked.entries.filter((id) => id !== e.id)) } }), el("span", {}, e.title, e.withdrawn ? el("span", { class: "help" }, e.status) : null));
  const show = async () => {
    try {
      await refreshLedger();
      if (!bench.begun) { fill(list, el("p", { class: "small quiet" }, unbegun())); return; }
      const { result } = await run("ledger list", {});
      fill(list, result.releases.length ? dataTable(["title", "period", "figures"], result.releases.map((e) => [line(e), e.period || "any", `${figure(e.figures)}${e.hidden ? `, ${figure(e.hidden)} hidden` : ""}`])) : el("p", { class: "small quiet" }, "It is empty."));
    } catch (error) { fill(list, failure(error)); }
  };
  let shown = false;
  const look = () => { if (folded.open && !shown) { shown = true; show(); } };
  folded.addEventListener("toggle", () => { if (folded.isConnected) unfolded = folded.open; look(); });
  look();
  return folded;
}

// Checks a release against earlier ones, all of them unless some are named; `told` gets every answer, as title and
// period may be corrected, and null where there is none.
export async function checkLedger(node, release, still, { beside = [], told = null } = {}) {
  const outcome = el("div", {});
  let turn = 0;
  const check = async () => {
    turn += 1;
    const mine = turn;
    const current = () => still() && mine === turn;
    fill(outcome, el("p", { class: "quiet" }, "checking …"));
    let answer = null;
    try {
      await refreshLedger();
      if (!bench.begun) {
        if (!current()) return;
        fill(outcome, el("p", { id: "ledger-verdict", class: "verdict good", "data-verdict": "safe" }, unbegun()));
        if (told) await told({ verdict: "safe", sentence: unbegun(), findings: [], changes: [] });
        return;
      }
      const job = await run("ledger check", { ...request("ledger check", release), beside });
      if (!current()) return;
      showCommand(job.command);
      answer = job.result;
      fill(outcome, verdict(answer), answer.findings.length ? findings(answer.findings) : null);
    } catch (error) { if (current()) fill(outcome, failure(error)); }
    if (current() && told) await told(answer);
  };
  const field = (name, words, help, example) => el("label", { for: name }, el("span", {}, words), el("input", { id: name, placeholder: example, value: state[name] || "", on: { change: (e) => { change({ [name]: e.target.value }); check(); } } }), el("span", { class: "help" }, help));
  fill(node, el("section", { class: "panel" }, el("h2", {}, beside.length ? `Together with ${figure(beside.length)} of the releases in ${bench.ledger}` : `Together with ${bench.ledger}`), el("div", { class: "pair" }, field("title", "title", "What the release is called in the ledger; its file name if left empty.", "Patients by area"), field("period", "period", "The time that it is about; releases of other periods are compared as such.", "2024")), outcome));
  await check();
}

// A ledger whose file is not there yet is an empty one; a name that was mistyped is noticed here.
const unbegun = () => `${bench.ledger} does not exist yet, so nothing is published as far as it knows; the first release that is entered begins it. If there should be one, check the name after --ledger.`;

const verdict = (c) => el("div", { class: `verdict ${tone(c.verdict)}`, id: "ledger-verdict", "data-verdict": c.verdict }, el("strong", {}, { safe: "Nothing is given away beside earlier releases", unsafe: "Together with earlier releases it gives figures away", incomplete: "Not everything could be judged" }[c.verdict]), el("p", {}, c.sentence), el("p", { class: "small quiet" }, `${c.meaning}.`), c.changes.length ? el("ul", {}, c.changes.slice(0, SHOWN).map((one) => el("li", {}, `${one.where}, since ${one.earlier}: all that changed was made by ${one.people === 1 ? "one person" : `${figure(one.people)} people`}.`))) : null);

function findings(all) {
  const rows = all.slice(0, SHOWN).map((f) => [nameOf(f.cell), f.exact ? `= ${figure(f.lower)}` : `${figure(f.lower)} to ${figure(f.upper)}`, `${f.reason} (${f.releases.join(" + ")})`, f.subtraction]);
  return [dataTable(["cell", "between", "because", "subtraction"], rows, { words: [2, 3] }), all.length > SHOWN ? el("p", { class: "small quiet" }, `and ${figure(all.length - SHOWN)} more`) : null];
}

// What becomes known, in the words of an audit.
export const learnt = (c) => c.findings.filter((f) => f.sensitive).map((f) => ({ cell: f.cell, subject: "value", lower: f.lower, upper: f.upper, determined: f.exact, proof: f.subtraction, attacker: `holder of ${f.releases.join(" + ")}`, verdict: "unsafe", faults: [f.reason], alone: null }));

// The ledger where it is decided: checked, and entered once nothing speaks against it.
export async function inLedger(node, release, still, told) {
  if (!bench.ledger) { fill(node, el("p", { class: "small quiet" }, "No ledger is open; start the workbench with --ledger FILE to check this against what is published already.")); return; }
  if (!release) return;
  const checked = el("div", {});
  const entry = el("div", {});
  fill(node, checked, entry);
  await checkLedger(checked, release, still, { told: async (c) => {
    const why = !c ? "It could not be checked against the ledger." : c.verdict === "safe" ? "" : c.verdict === "unsafe" ? "Together with earlier releases it gives figures away." : "Not everything could be judged beside earlier releases.";
    const enter = button({ id: "enter", on: { click: async () => {
      try {
        const first = !bench.begun;
        const job = await run("ledger add", request("ledger add", release));
        showCommand(job.command);
        await refreshLedger();
        if (first) fill(checked.querySelector("#ledger-verdict"), `Nothing was published before it, as far as ${bench.ledger} knows.`);
        fill(entry, el("p", { id: "entered" }, `Entered in ${bench.ledger} as ${job.result.title}.`));
        toast("entered in the ledger");
      } catch (error) { entry.append(failure(error)); }
    } } }, "Enter it in the ledger", why);
    fill(entry, el("p", { class: "row" }, enter));
    (checked.querySelector("section") || node).append(entry);
    await told(c);
  } });
}
