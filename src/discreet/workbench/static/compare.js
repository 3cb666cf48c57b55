// Compare: many protections on one map, filled while they run; a point opens its release.

import { follow, get, post, session } from "./api.js";
import { bench, go, showCommand } from "./app.js";
import { dataTable, el, failure, fill, progressBar } from "./dom.js";
import { AXES, riskMap, title } from "./map.js";
import { methods } from "./protect.js";
import { alone, nothingToProtect, readAs, typed } from "./see.js";
import { change, seedFor, state } from "./state.js";

const folderOf = (values) => { let h = 5381; for (const c of JSON.stringify(values)) h = ((h * 33) ^ c.codePointAt(0)) >>> 0; return `points-${h.toString(36)}`; };
export const policyName = () => (bench.policies.some((p) => p.name === state.policy) ? state.policy : bench.policies[0].name);
export const policyOf = () => bench.policies.find((p) => p.name === policyName());
export const policyPick = (chosen, id = "policy") => el("label", { for: id }, el("span", {}, "policy"),
  el("select", { id, on: { change: (e) => { change({ policy: e.target.value }, { remember: true }); chosen(); } } }, bench.policies.map((p) => el("option", { value: p.name, selected: p.name === policyName() }, p.name))),
  el("span", { class: "help" }, policyOf().title || ""));
export const source = (command) => ({ file: state.table, ...readAs(command) });

export async function compare(screen, { still }) {
  if (alone()) { fill(screen, nothingToProtect()); showCommand(typed("audit")); return; }
  const asked = { draws: 200, method: [], ...state.compare };
  const result = el("div", { id: "comparison" });
  const start = el("button", { type: "button", class: "primary", id: "start" }, "Compare");
  const draws = el("input", { type: "number", id: "draws", min: 2, value: asked.draws, on: { input: (e) => { asked.draws = Number(e.target.value); } } });
  const read = () => { asked.method = listed.value.split("\n").map((t) => t.trim()).filter(Boolean); };
  const listed = el("textarea", { id: "methods", rows: 6, placeholder: "all the usual ones, or one per line:\nsuppress\nrandom-rounding:base=3", value: asked.method.join("\n"), on: { input: read } });
  const more = el("select", { id: "more", "aria-label": "Add a method", on: { change: (e) => { listed.value = [...asked.method, e.target.value].join("\n"); e.target.value = ""; read(); } } }, el("option", { value: "" }, "add a method …"), methods().map((m) => el("option", { value: usual(m) }, usual(m).replaceAll("-", " "))));
  fill(screen, el("div", { class: "columns left" }, el("section", { class: "panel" }, el("h2", {}, "Compare protections"),
    el("p", { class: "small quiet" }, "Each method is drawn many times; risk, what can be worked out, and utility come from the same draws."),
    policyPick(() => compare(screen, { still })), el("label", { for: "draws" }, el("span", {}, "draws of each random method"), draws, el("span", { class: "help" }, "More draws, smaller errors, longer waiting.")),
    el("label", { for: "methods" }, el("span", {}, "methods"), listed, el("span", { class: "help" }, "One per line, with parameters behind a colon; empty means the usual ones.")), el("p", {}, more), start), result));
  start.addEventListener("click", () => {
    change({ compare: { ...state.compare, draws: asked.draws, method: asked.method } }, { remember: true });
    begin(result, still);
  });
  const job = state.jobs.compare;
  if (job && job.table === state.table && job.run === bench.run) {
    try { await watch(await get(`jobs/${job.number}`), job.folder, result, still); } catch (error) { if (still()) fill(result, failure(error)); }
  } else { fill(result, el("p", { class: "quiet" }, "Nothing compared yet: “Compare” draws a map of risk against utility here, and says which protection to take.")); showCommand(typed("compare")); }
}

// A method as the command line names it, with its base if it has one.
function usual(command) {
  const base = command.parameters.find((p) => p.name === "base" && p.default);
  return command.name.replace("protect ", "") + (base ? `:base=${base.default}` : "");
}

async function begin(node, still) {
  const asked = state.compare;
  const values = { ...source("compare"), policy: policyName(), draws: asked.draws, method: asked.method };
  values.seed = seedFor("compare", source("compare"));
  const folder = folderOf([session, values]);
  delete node.dataset.done;
  try {
    const job = await post("run?wait=0.2", { command: "compare", values: { ...values, resume: folder }, session });
    change({ jobs: { ...state.jobs, compare: { number: job.job, folder, table: state.table, run: bench.run } } });
    await watch(job, folder, node, still);
  } catch (error) { if (still()) fill(node, failure(error)); }
}

async function watch(job, folder, node, still) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  const partial = el("div", { id: "partial" });
  showCommand(job.command);
  if (job.state === "waiting" || job.state === "running") fill(node, bar.node, partial);
  let last = 0;
  try {
    const done = await follow(job, { signal: stop.signal, watch: async (j) => {
      bar.show(j);
      if (!still() || Date.now() - last < 700 || j.state !== "running") return;
      last = Date.now();
      const { points } = await get(`points/${folder}`).catch(() => ({ points: [] }));
      const axis = points.some((p) => p.r2) ? "r2" : "determined";
      if (points.length && still()) { fill(partial, riskMap(points, { axis, limit: limitOf(axis) })); partial.dataset.points = points.length; }
    } });
    if (still()) show(node, done.result);
  } catch (error) {
    if (!still()) return;
    fill(node, error.message === "cancelled" ? el("p", { class: "verdict warn", id: "cancelled" }, "Cancelled. What is finished is kept: Compare goes on from there.") : failure(error), partial);
  }
}

const limitOf = (axis) => {
  const { limits } = policyOf();
  return { r2: limits.r2, worst_dr: limits.dr, determined: 0 }[axis] ?? null;
};

function show(node, c) {
  const open = (p) => {
    const command = `protect ${p.method}`;
    if (!bench.commands[command]) { go("see"); return; } // the table as it is
    const known = new Set(bench.commands[command].parameters.map((q) => q.name));
    const given = Object.fromEntries(Object.entries(p.parameters || {}).filter(([name]) => known.has(name)).map(([name, v]) => [name, Array.isArray(v) && name !== "rule" ? v.join(",") : v]));
    if (known.has("rule") && !given.rule && p.method !== "redesign") given.rule = texts(c);
    change({ method: command, methods: { ...state.methods, [command]: given } }, { remember: true });
    go("protect");
  };
  const axes = c.magnitudes ? ["determined", "worst_dr"] : ["r2", "worst_dr", "determined"];
  const axis = axes.includes((state.compare || {}).axis) ? state.compare.axis : axes[0];
  const best = c.recommended === null ? null : c.points[c.recommended];
  const figure = (f, digits = 4) => (f ? (f.mean === null ? "∞" : f.mean.toFixed(digits)) : "–");
  const error = (f) => (f && f.mc_error ? `±${f.mc_error.toFixed(5)}` : "");
  const pick = el("label", { class: "inline" }, el("span", {}, "risk on the map"), el("select", { id: "axis", on: { change: (e) => { change({ compare: { ...state.compare, axis: e.target.value } }); show(node, c); } } }, axes.map((name) => el("option", { value: name, selected: name === axis }, AXES[name]))));
  fill(node, el("div", { class: `verdict ${best ? "good" : "bad"}`, id: "recommendation" }, el("strong", {}, best ? `Take ${title(best)}` : "No method meets the policy"), el("p", {}, c.sentence)), pick,
    riskMap(c.points, { axis, limit: limitOf(axis), frontier: axis === axes[0] ? c.frontier : [], chosen: best && title(best), onChoose: open }),
    el("p", { class: "legend" }, el("span", {}, el("b", { class: "meets" }, "●"), " meets the policy"), el("span", {}, el("b", { class: "fails" }, "✕"), " fails it"), el("span", {}, "◎ recommended"), axis === axes[0] && el("span", {}, "line: the efficient frontier"), el("span", {}, "dashes: the policy's limit"), el("span", {}, "point at one to see its name, choose it to open its release")),
    el("section", { class: "panel" }, dataTable(["method", "R2", "", "worst DR", "determined", "utility", "", "policy"], c.points.map((p) => [el("button", { type: "button", class: "link", on: { click: () => open(p) } }, title(p)), figure(p.r2), error(p.r2), p.worst_dr && p.worst_dr.mean === null && !p.extremes.known ? "–" : figure(p.worst_dr, 3), figure(p.determined, 3), figure(p.utility), error(p.utility), p.error || (p.meets ? "meets" : (p.faults || [])[0] || "fails")]), { words: [7] })));
  node.dataset.done = "yes";
}

// The policy's rules in the words of the command line, as they apply to this table.
function texts(c) {
  const { threshold, p_percent: p, pq, dominance } = c.policy.rules;
  const level = state.tabulate && state.tabulate.holding ? `@${c.policy.rules.level}` : "";
  const found = [threshold && `threshold=${threshold}`];
  if (c.magnitudes) found.push(p && `p=${p}`, pq && `pq=${pq.p},${pq.q}`, ...(dominance || []).map((d) => `dominance=${d.n},${d.k}`));
  return found.filter(Boolean).map((text) => text + level);
}
