// Open: a file of any kind, recognised and correctable; records become a table by choosing their dimensions.

import { own, post, run, settled, upload } from "./api.js";
import { bench, go, refreshFiles, render, showCommand } from "./app.js";
import { batch } from "./batch.js";
import { browse } from "./browse.js";
import { el, failure, figure, fill, progressBar } from "./dom.js";
import { printed } from "./cells.js";
import { plans } from "./plan.js";
import { sheets } from "./sheets.js";
import { change, state } from "./state.js";

const OPENED = /\.(csv|tsv|txt|parquet|xlsx|tab)$/i;

export async function open(screen, { still }) {
  const picker = el("input", { type: "file", id: "file", multiple: true, "aria-label": "Choose files", on: { change: (e) => take([...e.target.files]) } });
  const notice = el("div", {});
  const drop = el("div", { class: state.file || bench.plans.length ? "drop small-drop" : "drop", on: {
    dragover: (e) => { e.preventDefault(); drop.classList.add("over"); },
    dragleave: () => drop.classList.remove("over"),
    drop: (e) => { e.preventDefault(); drop.classList.remove("over"); take([...e.dataTransfer.files]); },
  } }, el("h2", {}, state.file ? "Open another" : "Open a table, records, or a release"), el("p", {}, "Drop a CSV, Parquet, Excel or .tab file here, or choose one; a .tab file together with its .rda file and hierarchies. It stays on this machine."), picker);

  async function take(files) {
    fill(notice, el("p", { class: "quiet" }, "opening …"));
    try {
      for (const file of files) bench.files = (await upload(file)).files;
      const first = files.find((f) => OPENED.test(f.name));
      fill(notice);
      if (first) await choose(first.name); else render();
    } catch (error) { fill(notice, failure(error)); }
  }

  async function choose(name) {
    change({ file: name, reading: {}, seeds: {}, content: null, table: null, release: null, releaseCommand: null, tabulate: null, verdict: null }, { remember: true });
    await render();
  }

  const files = bench.files.filter((f) => OPENED.test(f.name));
  const beside = bench.files.filter((f) => /\.(rda|hrc|toml)$/i.test(f.name));
  const list = el("div", { class: "chips" }, files.map((f) => el("button", { type: "button", "data-file": f.name, "aria-pressed": String(state.file === f.name), on: { click: () => choose(f.name) } }, f.name)));
  const examples = el("div", { class: "chips" }, bench.examples.map((name) => el("button", { type: "button", "data-example": name, on: { click: async () => { bench.files = (await post(`examples/${name}`, {})).files; await choose(`${name}.csv`); } } }, name.replaceAll("_", " "))));
  const below = el("div", {});
  fill(screen, drop, notice, files.length ? el("section", { class: "panel" }, el("h2", {}, "Files of this session"), list, beside.length ? el("p", { class: "small quiet", id: "beside" }, `Beside them: ${beside.map((f) => f.name).join(", ")}`) : null) : null,
    plans(choose), below, files.length > 1 ? batch(files, choose) : null, el("section", { class: "panel" }, el("h2", {}, state.file ? "Bundled tables" : "Or try a bundled table"), examples));
  if (!state.file) { showCommand("discreet workbench"); return; }
  fill(below, el("p", { class: "quiet" }, `looking into ${state.file} …`));
  const sheet = /\.xlsx$/i.test(state.file) ? await sheets(state.file, choose).catch(() => null) : null;
  if (!still()) return;
  if (sheet && sheet.needed) { fill(below, sheet.node); showCommand("discreet workbench"); return; }
  try {
    const job = await run("inspect", { file: state.file, cells: true, ...state.reading });
    if (!still()) return;
    showCommand(job.command);
    fill(below, recognised(job.result), sheet && sheet.node);
  } catch (error) { if (still()) fill(below, failure(error), sheet && sheet.node, state.content === null ? correct(null) : null); }
}

const next = () => el("p", {}, el("button", { type: "button", class: "primary", id: "use", on: { click: () => go("see") } }, "Use this table"), " ", el("button", { type: "button", on: { click: () => go("decide") } }, "Straight to the verdict"));

function recognised(found) {
  const records = found.content === "records";
  const magnitudes = found.columns.some((c) => c.name.startsWith("sum:") || (c.numeric && /\.tab$/i.test(found.name)));
  if (!records && (state.table !== found.name || state.content !== found.content)) change({ table: found.name, content: found.content, magnitudes, reading: { ...found.options, ...state.reading } });
  if (records && state.content !== "records") change({ content: "records" });
  return el("section", { class: "panel" }, el("h2", {}, found.name), el("p", { id: "recognised" }, found.sentence),
    found.finished ? el("p", { id: "finished" }, "A finished table of amounts is protected by a plan: ", el("code", {}, `discreet plan new ${found.name}`), " drafts one, and the workbench shows it if it is started with it.") : null,
    records ? tabulation(found) : [el("details", {}, el("summary", {}, "Not right? Correct how it is read"), correct(found)), next(), preview(found.cells)]);
}

function correct(found) {
  const fields = { layout: "long or wide", count: "the column of figures", total: "the label of margins", dimensions: "the columns that classify, comma-separated", delimiter: "what separates columns", encoding: "of the letters, as latin-1" };
  const values = { ...(found ? found.options : {}), ...state.reading };
  return el("form", { on: { submit: (e) => { e.preventDefault(); const given = Object.fromEntries([...new FormData(e.target)].filter(([, v]) => v)); change({ reading: given }, { remember: true }); render(); } } },
    el("div", { class: "pair" }, Object.entries(fields).map(([name, help]) => el("label", {}, el("span", {}, name), el("input", { name, value: values[name] || "" }), el("span", { class: "help" }, help)))),
    el("button", { type: "submit" }, "Read it again"));
}

function preview(cells) {
  if (!cells) return null;
  const hidden = new Set(cells.hidden);
  const grid = browse(cells, { name: "preview", face: (i) => ({ text: hidden.has(i) ? "×" : printed(cells, i), hidden: hidden.has(i) }) });
  requestAnimationFrame(() => grid.draw());
  return [el("p", { class: "small quiet" }, `${figure(cells.values.length)} figures${hidden.size ? `, ${figure(hidden.size)} hidden` : ""}`), grid.node];
}

function tabulation(found) {
  const asked = state.tabulate || { by: [], value: "", contributor: "", holding: "", missing: "", hierarchy: [] };
  const result = el("div", {});
  const set = (values) => { change({ tabulate: { ...asked, ...values } }, { remember: true }); render(); };
  const classify = found.columns.filter((c) => !c.numeric || c.distinct <= 200);
  const checks = classify.map((c) => el("label", { class: "check" }, el("input", { type: "checkbox", "data-by": c.name, checked: asked.by.includes(c.name), on: { change: (e) => set({ by: e.target.checked ? [...asked.by, c.name] : asked.by.filter((n) => n !== c.name) }) } }), el("span", {}, `${c.name} `, el("span", { class: "quiet small" }, `${figure(c.distinct)} categories`))));
  const pick = (name, title, among, help) => el("label", {}, el("span", {}, title), el("select", { "data-pick": name, on: { change: (e) => set({ [name]: e.target.value }) } }, el("option", { value: "" }, "none"), among.map((c) => el("option", { value: c.name, selected: asked[name] === c.name }, c.name))), el("span", { class: "help" }, help));
  const missing = el("label", {}, el("span", {}, "records without a category"), el("select", { "data-pick": "missing", on: { change: (e) => set({ missing: e.target.value }) } }, [["", "are an error"], ["category", "are a category of their own"], ["drop", "are left out"]].map(([value, words]) => el("option", { value, selected: (asked.missing || "") === value }, words))), el("span", { class: "help" }, "an empty entry in a column that classifies"));
  const trees = bench.files.filter((f) => /\.(hrc|csv|parquet)$/i.test(f.name) && f.name !== found.name);
  const hierarchies = asked.by.map((dimension) => el("label", {}, el("span", {}, `hierarchy of ${dimension}`), el("select", { "data-hierarchy": dimension, on: { change: (e) => set({ hierarchy: [...asked.hierarchy.filter((h) => !h.startsWith(`${dimension}=`)), ...(e.target.value ? [`${dimension}=${e.target.value}`] : [])] }) } }, el("option", { value: "" }, "none"), trees.map((f) => el("option", { value: f.name, selected: asked.hierarchy.includes(`${dimension}=${f.name}`) }, f.name))), el("span", { class: "help" }, "a tree of its codes, opened as .hrc or a table of parents")));
  if (asked.by.length) tabulate(found, asked, result);
  return [el("p", {}, "Choose what to count by; the table appears below as you choose."),
    el("div", { class: "columns left" }, el("div", {}, el("fieldset", {}, el("legend", {}, "dimensions"), checks),
      pick("value", "magnitude to add up", found.columns.filter((c) => c.numeric), "none counts the records"), pick("contributor", "whose record it is", found.columns, "without one, every record is somebody else's"), pick("holding", "the holding it belongs to", found.columns, "respondents who know each other's figures"), missing, hierarchies), result)];
}

let making = null;
let cancel = null;

async function tabulate(found, asked, node) {
  const output = own(found.name.replace(/\.[^.]+$/, "") + "-table.parquet");
  const earlier = cancel;
  const mine = new AbortController();
  cancel = mine;
  try {
    await settled(making, earlier);
    if (cancel !== mine) return;
    const values = { records: [found.name], by: asked.by.join(","), output, value: asked.value, contributor: asked.contributor, holding: asked.holding, missing: asked.missing || "", hierarchy: asked.hierarchy };
    const bar = progressBar(() => mine.abort());
    fill(node, bar.node);
    making = run("tabulate", values, { watch: (job) => bar.show(job), signal: mine.signal });
    const job = await making;
    if (cancel !== mine) return;
    const [shown] = await Promise.all([run("inspect", { file: output, cells: true }), refreshFiles()]);
    if (cancel !== mine) return;
    showCommand(job.command);
    change({ table: output, magnitudes: Boolean(asked.value), reading: {}, seeds: {} });
    fill(node, el("h3", {}, "Preview"), el("p", { class: "small quiet" }, shown.result.sentence, job.result.dropped ? ` ${figure(job.result.dropped)} records without a category were left out.` : ""), next(), preview(shown.result.cells));
  } catch (error) { if (cancel === mine) fill(node, failure(error)); }
}
