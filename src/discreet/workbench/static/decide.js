// Decide: the verdict against a policy, the ledger, who signs, and what leaves this page.

import { get, post, run, send, session } from "./api.js";
import { bench, refreshFiles, render, showCommand } from "./app.js";
import { policies, source } from "./compare.js";
import { dataTable, el, failure, figure, fill, progressBar, risk, toast } from "./dom.js";
import { inLedger } from "./ledger.js";
import { change, state } from "./state.js";

const WORDS = { release: ["Release it as it is", "good"], protect: ["Release it after protection", "good"], withhold: ["Do not release", "bad"] };
const RELEASED = "release.csv", INTERNAL = "report-internal.html", PUBLIC = "report-public.html", RECORD = "record.json";

export async function decide(screen, { still }) {
  const chosen = { mode: "propose", ...state.decide };
  const set = (values) => { change({ decide: { ...chosen, ...values }, verdict: null }, { remember: true }); decide(screen, { still }); };
  const policy = el("select", { id: "policy", on: { change: (e) => { change({ policy: e.target.value, verdict: null }, { remember: true }); decide(screen, { still }); } } }, policies().map((name) => el("option", { value: name, selected: name === state.policy }, name)));
  const mode = (value, words, enabled = true) => el("label", { class: "check" }, el("input", { type: "radio", name: "mode", value, checked: chosen.mode === value, disabled: !enabled, on: { change: () => set({ mode: value }) } }), el("span", {}, words));
  const result = el("div", { id: "decision" });
  fill(screen, el("div", { class: "columns left" }, el("div", {}, el("section", { class: "panel" }, el("h2", {}, "Verdict"),
    el("label", { for: "policy" }, el("span", {}, "policy"), policy),
    el("fieldset", {}, el("legend", {}, "what is judged"), mode("propose", "the cheapest protection that meets the policy"), mode("release", state.release ? `the release made here: ${state.release}` : "a release made on the Protect screen", Boolean(state.release)), mode("as_is", "the table as it is")),
    el("button", { type: "button", class: "primary", id: "assess", on: { click: () => assess(chosen, result, still) } }, "Reach a verdict")), sessionPanel()), result));
  if (state.verdict) await assess(chosen, result, still);
  else { fill(result, el("p", { class: "quiet" }, "No verdict yet.")); showCommand(`discreet assess ${state.table}`); }
}

function sessionPanel() {
  const picker = el("input", { type: "file", accept: ".discreet", "aria-label": "Open a saved session", on: { change: async (e) => { try { const opened = await send(`sessions/${session}/archive`, e.target.files[0]); Object.assign(state, opened.state); bench.files = opened.files; await render(); toast("session opened"); } catch (error) { e.target.after(failure(error)); } } } });
  return el("section", { class: "panel" }, el("h2", {}, "This session"), el("p", { class: "small quiet" }, "A saved session holds the original and is as confidential. discreet workbench FILE --replay runs its commands again."), el("p", {}, el("a", { class: "button", id: "save", href: `api/sessions/${session}/archive`, download: "session.discreet" }, "Save it")), el("label", {}, el("span", {}, "open a saved one"), picker));
}

async function assess(chosen, node, still) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  fill(node, bar.node);
  const values = { ...source("assess"), policy: state.policy || policies()[0], seed: 1, record: RECORD };
  if (chosen.mode === "release" && state.release) values.release = state.release;
  else if (chosen.mode === "as_is") values.as_is = true;
  if (chosen.mode !== "release") values.output = RELEASED;
  try {
    const job = await run("assess", { ...values, report: INTERNAL }, { watch: (j) => bar.show(j), signal: stop.signal });
    if (!still()) return;
    const a = job.result;
    change({ verdict: a.verdict });
    showCommand(job.command);
    await refreshFiles();
    await draw(node, a, values, still);
  } catch (error) { if (still()) fill(node, failure(error)); }
}

async function draw(node, a, values, still) {
  const [words, kind] = WORDS[a.verdict];
  const release = values.release || (a.verdict === "withhold" ? null : RELEASED);
  const ledger = el("div", { id: "ledger" });
  const signing = el("div", { id: "signing" });
  const reports = el("section", { class: "panel" });
  fill(node, el("div", { class: `verdict ${kind}`, id: "verdict", "data-verdict": a.verdict }, el("strong", {}, words), el("p", {}, a.sentence), el("ul", {}, a.reasons.map((r) => el("li", {}, r)))),
    el("div", { class: "cards" }, a.before && card(risk(a.before.value), "risk before"), a.after && card(risk(a.after.value), "risk after"), a.utility && a.utility.utility !== undefined && a.utility.utility !== null ? card(Number(a.utility.utility).toFixed(3), "utility") : null, a.audit && card(a.audit.verdict, "audit")),
    a.cells && a.cells.length ? el("section", { class: "panel" }, el("h2", {}, "Worst cells"), worst(a.cells)) : null, reports, ledger, signing);
  publish(reports, release, values);
  await inLedger(ledger, release, still);
  await signatures(signing, a, release, still);
}

const card = (value, words) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, words));

function worst(cells) {
  const rows = cells.slice(0, 10).map((c) => [typeof c.cell === "string" ? c.cell : Object.values(c.cell || {}).join(" · "), c.lower === undefined ? "" : `${figure(c.lower)} to ${figure(c.upper)}`, c.reason || c.verdict || "", c.proof || ""]);
  return dataTable(["cell", "between", "why", "proof"], rows, { words: [2, 3] });
}

function publish(node, release, values) {
  const has = (name) => bench.files.some((f) => f.name === name);
  const link = (name, words, id) => (has(name) ? el("a", { class: "button", id, href: `api/files/${encodeURIComponent(name)}`, download: name }, words) : null);
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
  fill(node, el("h2", {}, "What leaves this page"), el("div", { class: "chips" }, release ? link(release, `Release (${release})`, "export") : el("span", { class: "quiet" }, "Nothing may be published."), link(INTERNAL, "Internal report (confidential)", "internal"), has(PUBLIC) ? link(PUBLIC, "Public report", "public-report") : release && publicReport, link(RECORD, "Record for replay", "record"),
    has(INTERNAL) && el("button", { type: "button", on: { click: () => fill(view, el("iframe", { class: "report", title: "internal report", sandbox: "allow-scripts", src: `api/view/${INTERNAL}` })) } }, "Look at the report")), view);
}

async function signatures(node, a, release, still) {
  const kept = await get(`sessions/${session}`);
  if (!still()) return;
  const list = kept.signatures.length ? dataTable(["who", "decision", "comment", "when"], kept.signatures.map((s) => [s.who, s.decision, s.comment, s.when]), { words: [1, 2, 3] }) : el("p", { class: "quiet small" }, "Nobody has signed yet.");
  const form = el("form", { on: { submit: async (e) => {
    e.preventDefault();
    const given = Object.fromEntries(new FormData(e.target));
    try { await post(`sessions/${session}/signatures`, { ...given, decision: e.submitter.value, release, verdict: a.verdict, policy: a.policy.name }); await signatures(node, a, release, still); } catch (error) { form.append(failure(error)); }
  } } }, el("label", {}, el("span", {}, "name"), el("input", { name: "who", required: true, autocomplete: "name" })), el("label", {}, el("span", {}, "comment"), el("textarea", { name: "comment", rows: 2 })),
    el("button", { type: "submit", value: "approved", id: "approve", disabled: a.verdict === "withhold" }, "Approve the release"), " ", el("button", { type: "submit", value: "rejected", id: "reject" }, "Reject it"));
  fill(node, el("section", { class: "panel" }, el("h2", {}, "Sign-off"), list, kept.signatures.length < 2 ? form : el("p", {}, "Two people have signed.")));
}
