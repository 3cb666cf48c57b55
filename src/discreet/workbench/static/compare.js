// Compare: many protections on one map, filled while they run; a point opens its release.

import { follow, get, post, session } from "./api.js";
import { bench, go, showCommand } from "./app.js";
import { dataTable, el, failure, fill, progressBar } from "./dom.js";
import { riskMap, title } from "./map.js";
import { reading } from "./see.js";
import { change, state } from "./state.js";

const folderOf = (values) => { let h = 5381; for (const c of JSON.stringify(values)) h = ((h * 33) ^ c.codePointAt(0)) >>> 0; return `points-${h.toString(36)}`; };
export const policies = () => ["default", ...(bench.policies || []).filter((name) => name !== "default")];
export const source = (command) => {
  const known = bench.commands[command].parameters.map((p) => p.name);
  return { file: state.table, ...Object.fromEntries(Object.entries(reading()).filter(([name]) => known.includes(name))) };
};

export async function compare(screen, { still }) {
  const asked = { draws: 200, method: [], ...state.compare };
  const result = el("div", { id: "comparison" });
  const start = el("button", { type: "button", class: "primary", id: "start" }, "Compare");
  const policy = el("select", { id: "policy", on: { change: (e) => change({ policy: e.target.value }, { remember: true }) } }, policies().map((name) => el("option", { value: name, selected: name === state.policy }, name)));
  const draws = el("input", { type: "number", id: "draws", min: 2, value: asked.draws, on: { input: (e) => { asked.draws = Number(e.target.value); } } });
  const listed = el("textarea", { id: "methods", rows: 6, placeholder: "all the usual ones, or one per line:\nrandom-rounding:base=3\ncontrolled-rounding:base=5", value: asked.method.join("\n"), on: { input: (e) => { asked.method = e.target.value.split("\n").map((t) => t.trim()).filter(Boolean); } } });
  fill(screen, el("div", { class: "columns left" }, el("section", { class: "panel" }, el("h2", {}, "Compare protections"),
    el("p", { class: "small quiet" }, "Each method is drawn many times; risk, what can be worked out, and utility come from the same draws."),
    el("label", { for: "policy" }, el("span", {}, "policy"), policy), el("label", { for: "draws" }, el("span", {}, "draws of each random method"), draws),
    el("label", { for: "methods" }, el("span", {}, "methods"), listed), start), result));
  start.addEventListener("click", () => {
    change({ compare: { draws: asked.draws, method: asked.method } }, { remember: true });
    begin(result, still);
  });
  const job = state.jobs.compare;
  if (job) {
    try { await watch(await get(`jobs/${job.number}`), job.folder, result, still); } catch (error) { if (still()) fill(result, failure(error)); }
  } else { fill(result, el("p", { class: "quiet" }, "Nothing compared yet.")); showCommand("discreet compare " + state.table); }
}

async function begin(node, still) {
  const asked = state.compare;
  const values = { ...source("compare"), policy: state.policy || policies()[0], draws: asked.draws, method: asked.method, seed: 1 };
  const folder = folderOf(values);
  try {
    const job = await post("run?wait=0.2", { command: "compare", values: { ...values, resume: folder }, session });
    change({ jobs: { ...state.jobs, compare: { number: job.job, folder } } });
    await watch(job, folder, node, still);
  } catch (error) { if (still()) fill(node, failure(error)); }
}

async function watch(job, folder, node, still) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  const partial = el("div", {});
  showCommand(job.command);
  if (job.state === "waiting" || job.state === "running") fill(node, bar.node, partial);
  let last = 0;
  const done = await follow(job, { signal: stop.signal, watch: async (j) => {
    bar.show(j);
    if (!still() || Date.now() - last < 700 || j.state !== "running") return;
    last = Date.now();
    const { points } = await get(`points/${folder}`).catch(() => ({ points: [] }));
    if (points.length && still()) fill(partial, riskMap(points, {}));
  } });
  if (!still()) return;
  show(node, done.result);
}

function show(node, c) {
  const open = async (p) => {
    const command = methodCommand(p.method);
    if (!command) { node.prepend(el("p", { class: "error" }, `${title(p)} has no screen of its own.`)); return; }
    const known = new Set(bench.commands[command].parameters.map((q) => q.name));
    const given = Object.fromEntries(Object.entries(p.parameters || {}).filter(([name]) => known.has(name)));
    change({ method: command, methods: { ...state.methods, [command]: given } }, { remember: true });
    go("protect");
  };
  const best = c.recommended === null ? null : c.points[c.recommended];
  const limit = c.policy && c.policy.limits && c.policy.limits.r2 !== undefined && !c.magnitudes ? c.policy.limits.r2 : null;
  const figure = (f, digits = 4) => (f ? (f.mean === null ? "∞" : f.mean.toFixed(digits)) : "–");
  const error = (f) => (f && f.mc_error ? `±${f.mc_error.toFixed(5)}` : "");
  fill(node, el("div", { class: `verdict ${best ? "good" : "bad"}`, id: "recommendation" }, el("strong", {}, best ? `Take ${title(best)}` : "No method meets the policy"), el("p", {}, c.sentence)),
    riskMap(c.points, { limit, frontier: c.frontier, magnitudes: c.magnitudes, chosen: best && title(best), onChoose: open }),
    el("p", { class: "legend" }, el("span", {}, "● meets the policy"), el("span", {}, "■ fails it"), el("span", {}, "filled: efficient"), el("span", {}, "choose a point to open its release")),
    el("section", { class: "panel" }, dataTable(["method", "R2", "", "worst DR", "determined", "utility", "", "policy"], c.points.map((p) => [el("button", { type: "button", on: { click: () => open(p) } }, title(p)), figure(p.r2), error(p.r2), figure(p.worst_dr, 3), figure(p.determined, 3), figure(p.utility), error(p.utility), p.error || (p.meets ? "meets" : (p.faults || [])[0] || "fails")]), { words: [7] })));
  node.dataset.done = "yes";
}

const methodCommand = (name) => Object.keys(bench.commands).find((c) => c === `protect ${name}`) || Object.keys(bench.commands).find((c) => c.startsWith("protect ") && name.startsWith(c.replace("protect ", "").split(" ")[0]));
