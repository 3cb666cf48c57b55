// Plans: which tables are one problem, as a picture; then all verdicts, the worst first; and each table to look into.

import { own, post, run } from "./api.js";
import { bench, showCommand } from "./app.js";
import { dataTable, el, failure, figure, fill, progressBar, toast } from "./dom.js";

const WORDS = { release: ["may be published", "good"], protect: ["may be published", "good"], withhold: ["must not be released", "bad"] };
const ROW = 26;
const LEFT = 260;
const MANY = 8; // from more dimensions on, their names have no room beside each other
const found = new Map(); // by plan: what its last run printed, and the folder it wrote

// Names of files become names of folders: letters and digits, and a hash of the whole.
const folderOf = (name) => own(`plan-${[...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 2 ** 31, 7).toString(36)}`);

export function plans(choose) {
  if (!bench.plans.length) return null;
  return bench.plans.map((name) => {
    const node = el("section", { class: "panel", "data-plan": name });
    explain(name, node, choose);
    return node;
  });
}

async function explain(name, node, choose) {
  const result = el("div", {});
  const drawn = el("div", {});
  fill(node, el("h2", {}, `Plan: ${name}`), el("p", { class: "quiet" }, "looking into it …"));
  try {
    const job = await run("plan check", { file: name });
    const told = job.result;
    const start = el("button", { type: "button", class: "primary", "data-run": name, on: { click: () => runPlan(name, told, { result, drawn }, choose) } }, "Run the plan");
    fill(node, el("h2", {}, `Plan: ${told.title}`), el("p", { class: "sentence" }, `${told.sentence} Tables of a cluster are one problem; a line joins what they share.`),
      el("p", {}, start), result, fill(drawn, picture(told.clusters, {})), el("ul", { class: "small" }, [...told.tied, ...told.contained].map((text) => el("li", {}, text))));
    if (found.has(name)) show(name, told, { result, drawn }, choose);
  } catch (error) { fill(node, el("h2", {}, `Plan: ${name}`), failure(error)); }
}

async function runPlan(name, told, place, choose) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  const folder = folderOf(name);
  fill(place.result, bar.node);
  try {
    const job = await run("plan run", { file: name, output: folder }, { watch: (j) => bar.show(j), signal: stop.signal });
    found.set(name, { ...job.result, folder });
    showCommand(job.command);
    show(name, told, place, choose);
    toast("the plan was run");
  } catch (error) { fill(place.result, failure(error)); }
}

function show(name, told, place, choose) {
  const outcome = found.get(name);
  const verdicts = Object.fromEntries(outcome.clusters.map((c) => [c.cluster, c.verdict]));
  const into = async (table) => {
    try {
      const opened = await post(`plans/${outcome.folder}/${encodeURIComponent(table)}`, {});
      bench.files = opened.files;
      await choose(opened.name);
    } catch (error) { fill(problem, failure(error)); }
  };
  const problem = el("div", {});
  const rows = outcome.tables.map((one) => [
    one.verdict === "withhold" ? one.table : el("button", { type: "button", class: "link", "data-table": one.table, on: { click: () => into(one.table) } }, one.table),
    one.cluster, el("strong", { class: WORDS[one.verdict][1], "data-verdict": one.verdict }, WORDS[one.verdict][0]), one.method || "–", figure(one.figures), figure(one.sensitive), figure(one.hidden),
  ]);
  fill(place.drawn, picture(told.clusters, verdicts));
  fill(place.result, el("p", { class: `verdict ${WORDS[outcome.verdict][1]}`, id: "plan-sentence" }, outcome.sentence),
    dataTable(["table", "cluster", "verdict", "method", "figures", "sensitive", "hidden"], rows, { words: [0, 1, 2, 3] }), problem,
    outcome.clusters.map((one) => el("details", { open: one.verdict === "withhold" }, el("summary", {}, `${one.cluster}: ${one.sentence}`),
      el("ul", {}, one.checks.map((check) => el("li", {}, `${check.passed ? "✓" : "✗"} ${check.text}`)), one.notes.map((text) => el("li", { class: "quiet" }, text))))));
}

// Clusters of other variables or periods whose tables cross the same dimensions, and that have the same verdict.
function ofOneShape(clusters, verdicts) {
  const alike = new Map();
  for (const one of clusters) {
    const shape = JSON.stringify([one.dimensions, one.protect.map((group) => group.dimensions), verdicts[one.cluster]]);
    alike.set(shape, [...(alike.get(shape) ?? []), one]);
  }
  return [...alike.values()];
}

// A row for each table to protect, a dot for each dimension that it crosses; dots on a line are cells that occur in all.
// Clusters of one shape are drawn once; names of many dimensions are slanted.
function picture(clusters, verdicts) {
  const shapes = [];
  let top = 18;
  let wide = LEFT;
  for (const alike of ofOneShape(clusters, verdicts)) {
    const cluster = alike[0];
    const names = alike.map((one) => one.cluster).join(", ");
    const slanted = cluster.dimensions.length > MANY;
    const step = slanted ? 44 : 120;
    top += slanted ? 70 : 0;
    const colour = verdicts[cluster.cluster] ? `var(--${WORDS[verdicts[cluster.cluster]][1]})` : "currentColor";
    shapes.push(el("svg:text", { x: 0, y: top, "font-weight": "bold" }, alike.length > 3 ? `${cluster.cluster} and ${alike.length - 1} more` : names, el("svg:title", {}, names)));
    cluster.dimensions.forEach((name, column) => {
      const x = LEFT + column * step;
      wide = Math.max(wide, x + 80);
      const ys = cluster.protect.flatMap((group, k) => (group.dimensions.includes(name) ? [top + ROW * (k + 1) - 5] : []));
      shapes.push(el("svg:text", { x, y: top, ...(slanted ? { transform: `rotate(-45 ${x} ${top})` } : { "text-anchor": "middle" }) }, name.length > 16 ? `${name.slice(0, 15)}…` : name));
      if (ys.length > 1) shapes.push(el("svg:line", { x1: x, x2: x, y1: ys[0], y2: ys.at(-1), stroke: colour, "stroke-width": 2 }));
      ys.forEach((y) => shapes.push(el("svg:circle", { cx: x, cy: y, r: 6, fill: colour })));
    });
    cluster.protect.forEach((group, k) => shapes.push(el("svg:text", { x: 16, y: top + ROW * (k + 1) }, group.group.length > 30 ? `${group.group.slice(0, 29)}…` : group.group, el("svg:title", {}, group.group))));
    top += ROW * (cluster.protect.length + 2);
  }
  return el("svg:svg", { viewBox: `0 0 ${wide} ${top - ROW}`, width: wide, height: top - ROW, role: "img", class: "clusters", "aria-label": "Clusters of tables and the dimensions that they share" }, shapes);
}
