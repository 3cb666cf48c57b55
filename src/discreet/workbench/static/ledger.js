// The ledger: what this release gives away together with everything that is published already.

import { run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { dataTable, el, failure, figure, fill, toast } from "./dom.js";
import { change, state } from "./state.js";

export async function inLedger(node, release, still) {
  if (!bench.ledger) { fill(node, el("p", { class: "small quiet" }, "No ledger is open; start the workbench with --ledger FILE to check this against what is published already.")); return; }
  if (!release) return;
  const period = el("input", { id: "period", placeholder: "2024", value: state.period || "", on: { change: (e) => change({ period: e.target.value }) } });
  const outcome = el("div", {});
  const check = async () => {
    try {
      const job = await run("ledger check", { release, period: state.period || "" });
      if (!still()) return;
      showCommand(job.command);
      const c = job.result;
      const kind = { safe: "good", unsafe: "bad" }[c.verdict] || "warn";
      fill(outcome, el("div", { class: `verdict ${kind}`, id: "ledger-verdict", "data-verdict": c.verdict }, el("strong", {}, { safe: "Nothing is given away beside earlier releases", unsafe: "Together with earlier releases it gives figures away" }[c.verdict] || "Not decided"), el("p", {}, c.sentence)),
        c.findings.length ? dataTable(["cell", "between", "because", "subtraction"], c.findings.slice(0, 12).map((f) => [Object.values(f.cell).join(" · "), f.exact ? `= ${figure(f.lower)}` : `${figure(f.lower)} to ${figure(f.upper)}`, `${f.reason} (${f.releases.join(" + ")})`, f.subtraction]), { words: [2, 3] }) : null,
        el("button", { type: "button", id: "enter", disabled: c.verdict !== "safe", on: { click: add } }, "Enter it in the ledger"));
    } catch (error) { fill(outcome, failure(error)); }
  };
  const add = async () => {
    try { const job = await run("ledger add", { release, period: state.period || "" }); showCommand(job.command); toast("entered in the ledger"); await check(); } catch (error) { outcome.append(failure(error)); }
  };
  fill(node, el("section", { class: "panel" }, el("h2", {}, `Ledger ${bench.ledger}`), el("div", { class: "pair" }, el("label", { for: "period" }, el("span", {}, "period"), period), el("button", { type: "button", id: "check", on: { click: check } }, "Check against earlier releases")), outcome));
}
