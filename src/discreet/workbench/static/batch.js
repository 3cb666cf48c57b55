// Batches: a verdict on each of several files, the worst first.

import { plainly, run } from "./api.js";
import { dataTable, el, fill, toast } from "./dom.js";
import { policyName, policyOf, policyPick } from "./compare.js";
import { readAs } from "./see.js";
import { change, seedFor, state } from "./state.js";

// From bad to good; what could not be judged comes before all that may be released.
const ORDER = ["unsafe", "withhold", "failed", "incomplete", "protect", "release", "safe"];
const WORDS = { failed: ["not judged", "bad"], withhold: ["withhold", "bad"], unsafe: ["unsafe", "bad"], incomplete: ["not decided", "warn"], protect: ["release after protection", "good"], release: ["release as it is", "good"], safe: ["safe", "good"], running: ["…", "quiet"] };

let results = new Map(); // of this page: a file, and what became of it
let going = null; // who is at work; a newer one takes over

export function batch(files, choose) {
  const asked = state.batch || files.map((f) => f.name);
  const chosen = () => files.map((f) => f.name).filter((name) => asked.includes(name));
  const node = el("section", { class: "panel", id: "batch" });
  const list = el("div", { id: "batch-verdicts", "aria-live": "polite" });
  const show = () => fill(list, results.size ? table(choose) : null);
  const box = (f) => el("label", { class: "check" }, el("input", { type: "checkbox", "data-batch": f.name, checked: asked.includes(f.name), on: { change: (e) => { const now = e.target.checked ? [...asked, f.name] : asked.filter((n) => n !== f.name); asked.splice(0, asked.length, ...now); change({ batch: now }); } } }), el("span", {}, f.name));
  const start = el("button", { type: "button", id: "batch-start", on: { click: () => judgeAll(chosen(), show) } }, "Judge them all");
  fill(node, el("h2", {}, "Several at once"), el("details", { open: results.size > 0 }, el("summary", {}, `a verdict on each of ${files.length} files, the worst first`),
    policyPick(() => {}, "batch-policy"), el("fieldset", {}, el("legend", {}, "files"), files.map(box)), el("p", { class: "row" }, start), list));
  show();
  return node;
}

async function judgeAll(names, show) {
  const mine = Symbol("batch");
  going = mine;
  results = new Map(names.map((name) => [name, { verdict: "running", sentence: "" }]));
  show();
  const waiting = [...names];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const found = await judge(name).catch((error) => ({ verdict: "failed", sentence: `${plainly(error.message)}. Open the file to choose how it is read.` }));
      if (going !== mine) return;
      results.set(name, found);
      show();
    }
  };
  await Promise.all([work(), work()]);
  if (going === mine) toast(`${names.length} files judged`);
}

// A table is assessed; a release is audited by the policy's limits; records are no table yet.
async function judge(name) {
  const { result: found } = await run("inspect", { file: name });
  if (found.content === "records") return { verdict: "failed", sentence: "Records: open the file and choose its dimensions first." };
  if (found.content === "release" && !/\.tab$/i.test(name)) {
    const audited = (await run("audit", { releases: [name], ...readAs("audit", found.options), ...limitsOf(), top: 1 })).result;
    return { verdict: audited.verdict, sentence: audited.sentence };
  }
  const values = { file: name, policy: policyName(), ...readAs("assess", found.options) };
  const { result } = await run("assess", { ...values, seed: seedFor("batch", values) }, { watch: () => {} });
  return { verdict: result.verdict, sentence: [result.sentence, ...(result.verdict === "withhold" ? result.reasons : [])].slice(0, 2).join(" ") };
}

function limitsOf() {
  const { limits } = policyOf();
  return { max_dr: limits.dr, law: limits.dr == null ? undefined : "method", min_width: limits.width };
}

function table(choose) {
  const rank = ([, r]) => (r.verdict === "running" ? ORDER.length : ORDER.indexOf(r.verdict));
  const rows = [...results].sort((a, b) => rank(a) - rank(b));
  return dataTable(["file", "verdict", "why"], rows.map(([name, r]) => [el("button", { type: "button", class: "link", on: { click: () => choose(name) } }, name), el("strong", { class: WORDS[r.verdict][1], "data-verdict": r.verdict }, WORDS[r.verdict][0]), r.sentence]), { words: [1, 2] });
}
