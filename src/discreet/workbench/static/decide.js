// Decide: the verdict against a policy, the ledger, who signs, and what leaves this page.

import { follow, get, own, post, remove, run, send, session } from "./api.js";
import { bench, refreshFiles, render, showCommand } from "./app.js";
import { nameOf } from "./cells.js";
import { policyName, policyOf, policyPick, source } from "./compare.js";
import { button, dataTable, el, failure, figure, fill, progressBar, risk, toast } from "./dom.js";
import { inLedger } from "./ledger.js";
import { withProofs } from "./proofs.js";
import { alone, readAs, secrecy, typed } from "./see.js";
import { adopt, change, seedFor, state } from "./state.js";

const WORDS = { release: ["Release it as it is", "good"], protect: ["Release it after protection", "good"], withhold: ["Do not release", "bad"], safe: ["Nothing hidden can be worked out", "good"], unsafe: ["Do not release: too much can be worked out", "bad"], incomplete: ["Not decided", "warn"], given: ["This release may be published", "good"], beside: ["Do not release: beside earlier releases it gives figures away", "bad"], open: ["Not decided: it could not be checked against all earlier releases", "warn"] };
const MAY = ["release", "protect", "safe"]; // verdicts on which a release can be approved
const CANNOT = { withhold: "The policy does not allow this release.", unsafe: "Too much can be worked out from it.", incomplete: "It is not decided whether it is safe." }; // why nothing can be approved
const FAILS = ["withhold", "unsafe"]; // verdicts that nothing makes worse
const [RELEASED, INTERNAL, PUBLIC, RECORD, AUDIT] = ["release.csv", "report-internal.html", "report-public.html", "record.json", "audit.txt"].map(own);
const SHOWN = 5; // figures of an audit that are shown

export async function decide(screen, { still }) {
  const only = alone();
  const chosen = { mode: "propose", ...state.decide };
  if (only) chosen.mode = "alone"; else if (chosen.mode === "alone" || (chosen.mode === "release" && !state.release)) chosen.mode = "propose";
  const set = (values) => { change({ decide: { ...chosen, ...values }, verdict: null }, { remember: true }); decide(screen, { still }); };
  const mode = (value, words, enabled = true) => el("label", { class: "check" }, el("input", { type: "radio", name: "mode", value, checked: chosen.mode === value, disabled: !enabled, on: { change: () => set({ mode: value }) } }), el("span", {}, words));
  const result = el("div", { id: "decision" });
  const judged = only
    ? [mode("alone", `the release alone: ${state.table}`), el("p", { class: "small quiet" }, "Without the original, the release is audited as any reader could do it, by the policy's limits, and checked against the ledger.")]
    : [mode("propose", "the first protection that meets the policy"), mode("release", state.release ? `the release made here: ${state.release}` : "a release made on the Protect screen", Boolean(state.release)), state.release ? null : el("p", { class: "why" }, "None yet: the Protect screen makes one."), mode("as_is", "the table as it is")];
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("h2", {}, "Verdict"), policyPick(() => set({})),
    el("fieldset", {}, el("legend", {}, "what is judged"), judged),
    el("label", { for: "statistics" }, el("span", {}, "statistics beside the figures"), el("textarea", { id: "statistics", rows: 2, spellcheck: false, placeholder: "pct=percentage, over=sex", value: chosen.statistic || "", on: { change: (e) => set({ statistic: e.target.value }) } }), el("span", { class: "help" }, only || chosen.mode === "release" ? "What columns of statistics in the release are, a line each." : "Each is computed from the released figures, where these are shown; a line each.")),
    el("button", { type: "button", class: "primary", id: "assess", on: { click: () => { change({ jobs: { ...state.jobs, decide: null } }); reach(chosen, result, still); } } }, "Reach a verdict")), sessionPanel()), result));
  if (state.verdict) await reach(chosen, result, still);
  else { fill(result, el("p", { class: "quiet" }, "No verdict yet: “Reach a verdict” applies the policy, and shows here whether the table may be published, and why.")); showCommand(typed(only ? "audit" : "assess")); }
}

function sessionPanel() {
  const picker = el("input", { type: "file", id: "saved", accept: ".discreet", "aria-label": "Open a saved session", on: { change: async (e) => { try { const opened = await send(`sessions/${session}/archive`, e.target.files[0]); adopt(opened.state); bench.files = opened.files; await render(); toast("session opened"); } catch (error) { e.target.after(failure(error)); } } } });
  return el("section", { class: "panel" }, el("h2", {}, "This session"), el("p", { class: "small quiet" }, "A saved session holds the original, and is as confidential as the original. ", el("code", { class: "whole" }, "discreet workbench FILE --replay"), " runs its commands again."), el("p", {}, el("a", { class: "button", id: "save", href: `api/sessions/${session}/archive`, download: "session.discreet" }, "Save it")), el("label", { for: "saved" }, el("span", {}, "open a saved one"), picker, el("span", { class: "help" }, "A .discreet file. If it was changed outside the workbench, its signatures are not valid.")));
}

let turn = 0;

async function reach(chosen, node, onScreen) {
  turn += 1;
  const mine = turn;
  const still = () => onScreen() && mine === turn; // what is newer replaces what is older
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  fill(node, bar.node);
  const how = { watch: (j) => bar.show(j), signal: stop.signal };
  try {
    if (chosen.mode === "alone") await audit(chosen, node, how, still); else await assess(chosen, node, how, still);
  } catch (error) { if (still()) fill(node, failure(error)); }
}

// Runs a command, or goes on with it if the page was reloaded meanwhile.
async function begun(command, values, how) {
  const wanted = JSON.stringify([command, values]);
  const had = state.jobs.decide;
  const known = had && had.wanted === wanted && had.run === bench.run ? await get(`jobs/${had.number}`).catch(() => null) : null;
  if (known) return follow(known, how);
  if (has(PUBLIC)) await remove(`files/${PUBLIC}`); // it is about another assessment
  const job = await post("run?wait=0.3", { command, values, session });
  change({ jobs: { ...state.jobs, decide: { number: job.job, wanted, run: bench.run } } });
  return follow(job, how);
}

// A release without its original: what any reader can work out, against the policy's limits.
async function audit(chosen, node, how, still) {
  const { limits } = policyOf();
  const asked = { releases: [state.table], ...readAs("audit"), statistic: beside(chosen).length ? beside(chosen) : undefined, max_dr: limits.dr, law: limits.dr == null ? undefined : "method", min_width: limits.width, output: AUDIT, top: SHOWN };
  const job = await begun("audit", asked, how);
  if (!still()) return;
  const a = job.result;
  showCommand(job.command);
  change({ verdict: a.verdict });
  await refreshFiles();
  const parts = frame(node, a.verdict, a.sentence, [a.criterion.safe_means && `Safe means: ${a.criterion.safe_means}.`]);
  fill(parts.more, a.cells.length ? el("section", { class: "panel" }, el("h2", {}, "What is known best"), a.cells.map((c) => [el("h3", {}, nameOf(c.cell)), secrecy([c])]), a.not_shown ? el("p", { class: "small quiet" }, `and ${figure(a.not_shown)} more, none of them known better`) : null) : null);
  const view = el("div", {});
  fill(parts.reports, el("h2", {}, "What leaves this page"), el("div", { class: "chips" }, link(state.table, `Release (${state.table})`, "export"), asExcel(state.table, view), link(AUDIT, "The audit (confidential)", "audit-report")), view);
  await settle(parts, job, a.verdict, { policy: policyName(), release: state.table }, still);
}

// What earlier releases make of a verdict, every time that they are asked; then who signs.
async function settle(parts, job, verdict, about, still) {
  const sign = async (check) => {
    // The worse of both verdicts stands.
    const beside = bench.ledger ? (check ? check.verdict : "incomplete") : "safe";
    const now = FAILS.includes(verdict) || beside === "safe" ? verdict : beside;
    const stands = now === verdict;
    parts.judge(stands ? null : now === "unsafe" ? "beside" : "open", stands ? [] : [check ? check.sentence : "The ledger gave no answer."]);
    await signatures(parts.signing, { ...about, verdict: now }, still);
    if (still()) showCommand(job.command);
  };
  if (bench.ledger && about.release) await inLedger(parts.ledger, about.release, still, sign);
  else { await inLedger(parts.ledger, about.release, still, sign); await sign(null); }
}

// The definitions of statistics, a line each.
const beside = (chosen) => (chosen.statistic || "").split("\n").map((line) => line.trim()).filter(Boolean);

async function assess(chosen, node, how, still) {
  const values = { ...source("assess"), policy: policyName(), record: RECORD };
  if (beside(chosen).length) values.statistic = beside(chosen);
  if (chosen.mode === "release") values.release = state.release;
  else if (chosen.mode === "as_is") values.as_is = true;
  if (chosen.mode !== "release") values.output = RELEASED;
  values.seed = seedFor("assess", values);
  const job = await begun("assess", { ...values, report: INTERNAL }, how);
  if (!still()) return;
  const a = job.result;
  showCommand(job.command);
  change({ verdict: a.verdict });
  await refreshFiles();
  const release = values.release || (a.verdict === "withhold" ? null : RELEASED);
  const parts = frame(node, a.verdict, a.sentence, a.reasons, chosen.mode === "release" && a.verdict === "release" ? "given" : a.verdict);
  const card = (value, words) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, words));
  fill(parts.more, el("div", { class: "cards" }, a.before && card(risk(a.before.value), "risk before"), a.after && card(risk(a.after.value), "risk after"), a.utility && a.utility.utility !== undefined && a.utility.utility !== null ? card(Number(a.utility.utility).toFixed(3), "utility") : null, a.audit && card(a.audit.verdict, "audit"), ...(a.statistics || []).map((one) => card(`${figure(one.shown)} of ${figure(one.wanted)}`, `${one.name} published`))),
    a.cells && a.cells.length ? el("section", { class: "panel" }, el("h2", {}, "Worst cells"), worst(a.cells)) : null);
  publish(parts.reports, release, values);
  await settle(parts, job, a.verdict, { policy: a.policy.name, release }, still);
}

function frame(node, verdict, sentence, reasons, phrase = verdict) {
  const head = el("div", {});
  const parts = { more: el("div", {}), reports: el("section", { class: "panel" }), ledger: el("div", { id: "ledger" }), signing: el("div", { id: "signing" }) };
  // Says it again if the ledger changes it: what is safe alone need not be safe beside earlier releases.
  parts.judge = (other, why) => {
    const [words, kind] = WORDS[other || phrase];
    const now = { beside: "unsafe", open: "incomplete" }[other] || verdict;
    fill(head, el("div", { class: `verdict ${kind}`, id: "verdict", "data-verdict": now }, el("strong", {}, words), el("p", {}, other ? `Alone: ${sentence}` : sentence), el("ul", {}, [...why, ...reasons].filter(Boolean).map((r) => el("li", {}, r)))));
  };
  parts.judge(null, []);
  fill(node, head, parts.more, parts.reports, parts.ledger, parts.signing);
  return parts;
}

function worst(cells) {
  const rows = cells.slice(0, 10).map((c) => [c.cell ? nameOf(c.cell) : c.name, c.published ?? "", c.known || (c.lower === undefined ? "" : `${figure(c.lower)} to ${figure(c.upper)}`), c.reason || c.verdict || ""]);
  return withProofs(["cell", "published", "a reader knows", "why"], rows, cells.slice(0, 10).map((c) => c.proof), { words: [2, 3] });
}

const has = (name) => bench.files.some((f) => f.name === name);
// Excel is made when it is asked for; it is the same figures.
const asExcel = (name, view) => (/\.(csv|tsv|txt|parquet)$/i.test(name) ? el("button", { type: "button", id: "excel", on: { click: async () => {
  try {
    const job = await follow(await post(`excel/${encodeURIComponent(name)}`, {}));
    const a = el("a", { href: `api/files/${encodeURIComponent(job.result.name)}`, download: job.result.name });
    document.body.append(a);
    a.click();
    a.remove();
  } catch (error) { view.replaceChildren(failure(error)); }
} } }, "Release as Excel") : null);
const link = (name, words, id) => (has(name) ? el("a", { class: "button", id, href: `api/files/${encodeURIComponent(name)}`, download: name }, words) : null);

function publish(node, release, values) {
  const view = el("div", {});
  const publicReport = el("button", { type: "button", id: "public", on: { click: async () => {
    try {
      const job = await run("assess", { ...values, report: PUBLIC, edition: "public" });
      showCommand(job.command);
      await refreshFiles();
      publish(node, release, values);
      toast("public report made and checked");
    } catch (error) { view.replaceChildren(failure(error)); }
  } } }, "Make the public report");
  fill(node, el("h2", {}, "What leaves this page"), el("div", { class: "chips" }, release ? [link(release, `Release (${release})`, "export"), asExcel(release, view)] : el("span", { class: "quiet" }, "Nothing may be published."), link(INTERNAL, "Internal report (confidential)", "internal"), has(PUBLIC) ? link(PUBLIC, "Public report", "public-report") : release && publicReport, link(RECORD, "Record for replay", "record"),
    has(INTERNAL) && el("button", { type: "button", id: "look", on: { click: () => fill(view, el("iframe", { class: "report", title: "internal report", sandbox: "allow-scripts", src: `api/view/${INTERNAL}` })) } }, "Look at the report")), view);
}

async function signatures(node, about, still) {
  const kept = (await get(`sessions/${session}`)).signatures;
  if (!still()) return;
  const standing = kept.filter((s) => s.stands && s.release === (about.release || ""));
  const list = kept.length ? dataTable(["who", "decision", "of", "comment", "when"], kept.map((s) => [s.who, s.decision, `${s.release || "the table"}${s.stands ? "" : s.void ? " (not sealed here: not valid)" : " (changed since)"}`, s.comment, s.when]), { words: [1, 2, 3, 4] }) : el("p", { class: "quiet small" }, "Nobody has signed yet. One or two people sign.");
  const form = el("form", { on: { submit: async (e) => {
    e.preventDefault();
    const given = Object.fromEntries(new FormData(e.target));
    try { await post(`sessions/${session}/signatures`, { ...given, ...about, decision: e.submitter.value }); await signatures(node, about, still); } catch (error) { form.append(failure(error)); }
  } } }, el("label", {}, el("span", {}, "name"), el("input", { name: "who", required: true, autocomplete: "name" }), el("span", { class: "help" }, "Who signs; the second signature is another person's.")), el("label", {}, el("span", {}, "comment"), el("textarea", { name: "comment", rows: 2 }), el("span", { class: "help" }, "Kept with the signature, in this session.")),
    el("p", { class: "row" }, button({ type: "submit", value: "approved", id: "approve" }, "Approve the release", MAY.includes(about.verdict) ? "" : CANNOT[about.verdict] || "No verdict was reached."), button({ type: "submit", value: "rejected", id: "reject" }, "Reject it")));
  fill(node, el("section", { class: "panel" }, el("h2", {}, "Sign-off"), list, standing.length < 2 ? form : el("p", {}, "Two people have signed.")));
}
