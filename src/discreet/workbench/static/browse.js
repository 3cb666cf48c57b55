// A table with what helps to find one's way in it: search, filter, sort, pivot, fold, and the next flagged cell.

import { el, figure, fill, toast } from "./dom.js";
import { Grid } from "./grid.js";
import { PLAIN, layOut } from "./layout.js";
import { change, state } from "./state.js";

const SMALL = 12; // a table of fewer figures needs no tools

// `filters` are {name: [words, test]} of figures; `flagged` names what the next button goes to; `onView` is told how the
// table is looked at, for another one beside it; the rest is the grid's.
export function browse(first, { filters = {}, flagged = null, onView = null, ...options }) {
  let cells = first;
  const key = cells.dimensions.map((d) => d.name).join("\u0000");
  const kept = (state.view || {})[key] || {};
  const view = { ...PLAIN, across: kept.across ?? null, sort: kept.sort ?? "given", shut: kept.shut ?? [], filter: "" };
  const now = () => ({ ...view, only: filters[view.filter] ? filters[view.filter][1] : null });
  const grid = new Grid(layOut(cells, now()), { ...options, onFold: (label) => { set({ shut: view.shut.includes(label) ? view.shut.filter((l) => l !== label) : [...view.shut, label] }); }, onSort: (label) => { set({ sort: view.sort === label ? "given" : label }); } });
  const found = el("span", { class: "small quiet found", role: "status" });
  const tools = el("div", { class: "tools-of-table", role: "group", "aria-label": `tools of ${options.name}` });
  const draw = () => {
    const layout = layOut(cells, now());
    grid.show(layout);
    const all = layout.of === layout.rows.length && layout.ofColumns === layout.columns.length;
    found.textContent = all ? "" : layout.rows.length ? `${figure(layout.rows.length)} of ${figure(layout.of)} rows, ${figure(layout.columns.length)} of ${figure(layout.ofColumns)} columns` : "nothing fits";
    sorts();
    if (onView) onView(now());
  };
  const set = (values) => {
    Object.assign(view, values);
    change({ view: { ...state.view, [key]: { across: view.across, sort: view.sort, shut: view.shut } } });
    draw();
  };
  const pick = (title, name, choices, value, chosen) => el("label", { class: "tool" }, el("span", {}, title), el("select", { "data-tool": name, on: { change: (e) => chosen(e.target.value) } }, choices.map(([v, words]) => el("option", { value: v, selected: v === value }, words))));
  const sortPick = el("select", { "data-tool": "sort", on: { change: (e) => set({ sort: e.target.value }) } });
  const sorts = () => {
    const { columns } = grid.layout;
    const named = columns.includes(view.sort) ? [[view.sort, `by ${view.sort}`]] : [];
    fill(sortPick, [["given", "as given"], ["total", "largest total first"], ["most", "largest figure first"], ...named].map(([v, words]) => el("option", { value: v, selected: v === view.sort }, words)));
  };
  const build = () => {
    const search = el("input", { type: "search", "data-tool": "search", placeholder: "labels or a figure", value: view.search, on: { input: (e) => set({ search: e.target.value }) } });
    const tree = cells.dimensions.some((d) => d.depths);
    const folds = () => { const all = layOut(cells, { ...now(), shut: [] }); return all.rows.filter((_, r) => all.parts[r]); };
    fill(tools, el("label", { class: "tool" }, el("span", {}, "search"), search),
      Object.keys(filters).length ? pick("show", "filter", [["", "all cells"], ...Object.entries(filters).map(([n, [words]]) => [n, words])], view.filter, (filter) => set({ filter })) : null,
      el("label", { class: "tool" }, el("span", {}, "sort rows"), sortPick),
      cells.dimensions.length > 1 ? pick("across", "across", cells.dimensions.map((d) => [d.name, d.name]), cells.dimensions[grid.layout.across].name, (across) => set({ across, sort: "given" })) : null,
      tree ? [el("button", { type: "button", "data-tool": "fold", title: "Show the uppermost level only", on: { click: () => set({ shut: folds() }) } }, "Collapse"), el("button", { type: "button", "data-tool": "unfold", title: "Show all levels", on: { click: () => set({ shut: [] }) } }, "Expand")] : null,
      flagged ? el("button", { type: "button", "data-tool": "next", title: `Go to the next ${flagged} cell (n)`, on: { click: () => { if (!grid.next()) toast(`no ${flagged} cell is shown`); } } }, `Next ${flagged} cell`) : null, found);
    sorts();
  };
  build();
  tools.hidden = first.values.length < SMALL;
  const node = el("div", { class: "browse" }, tools, grid.node);
  return {
    node, grid, tools, view: now,
    // Shows other figures of the same table, or the same ones with another look.
    show(other, face) { cells = other; grid.face = face || grid.face; draw(); build(); },
    draw: () => (view.filter ? draw() : grid.draw(true)),
  };
}
