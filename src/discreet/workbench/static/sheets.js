// A spreadsheet: which sheet, and which of its rows has the names of the columns.

import { follow, get, post } from "./api.js";
import { bench, refreshFiles } from "./app.js";
import { el, failure, figure, fill, toast } from "./dom.js";

// Returns the panel to choose from, and whether a choice is needed: the file is read as it is if its only sheet begins
// with its header.
export async function sheets(name, choose) {
  const { result } = await follow(await get(`sheets/${encodeURIComponent(name)}`));
  const asked = { sheet: result.sheets[0].sheet, header: result.sheets[0].header };
  const node = el("section", { class: "panel", id: "sheets" });
  const trouble = el("div", {});
  const take = async () => {
    try {
      const job = await follow(await post(`sheets/${encodeURIComponent(name)}`, asked));
      await refreshFiles();
      if (job.result.left_out) toast(job.result.left_out === 1 ? "a note below the table is left out" : `${figure(job.result.left_out)} notes below the table are left out`);
      await choose(job.result.name);
    } catch (error) { fill(trouble, failure(error)); }
  };
  const draw = () => {
    const chosen = result.sheets.find((s) => s.sheet === asked.sheet);
    const pick = el("select", { "data-sheet": "sheet", id: "sheet", on: { change: (e) => { asked.sheet = e.target.value; asked.header = result.sheets.find((s) => s.sheet === asked.sheet).header; draw(); } } }, result.sheets.map((s) => el("option", { value: s.sheet, selected: s.sheet === asked.sheet }, `${s.sheet} (${figure(s.height)} ${s.height === 1 ? "row" : "rows"})`)));
    const header = el("input", { type: "number", id: "header-row", "data-sheet": "header", min: 1, max: chosen.height, value: asked.header, on: { change: (e) => { asked.header = Number(e.target.value); draw(); } } });
    fill(node, el("h2", {}, `Sheet and header row of ${name}`),
      el("div", { class: "pair" }, el("label", { for: "sheet" }, el("span", {}, "sheet"), pick, el("span", { class: "help" }, "the one that holds the table")), el("label", { for: "header-row" }, el("span", {}, "header row"), header, el("span", { class: "help" }, "the row with the names of the columns; titles above it and notes below the table are left out"))),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the first rows" }, el("table", { class: "plain peek" }, el("tbody", {}, chosen.rows.map((row, r) => el("tr", { class: r + 1 === asked.header ? "header" : r + 1 < asked.header ? "outside" : null }, el("th", { scope: "row" }, r + 1), row.map((cell) => el("td", {}, cell))))))),
      el("p", {}, el("button", { type: "button", class: "primary", id: "take-sheet", on: { click: take } }, "Take this table")), trouble);
  };
  draw();
  return { node, needed: result.sheets.length > 1 || asked.header > 1 || bench.files.every((f) => f.name !== name) };
}
