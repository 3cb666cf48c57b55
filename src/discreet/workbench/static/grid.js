// A table of any size: only what is near the window is in the page, drawn from arrays that are already here.

import { el } from "./dom.js";

const BEYOND = 0.7; // windows drawn before and after the visible one, so scrolling never shows a gap
const SPARE = 4; // rows left before the next ones are drawn

// Lays figures out: the last dimension across, the others down. Returns rows, columns and the place of each figure.
export function layOut(cells, across = cells.dimensions.length - 1) {
  const down = cells.dimensions.map((_, i) => i).filter((i) => i !== across);
  const single = cells.dimensions.length === 1;
  const order = (dimension) => {
    const labels = dimension.labels.map((_, i) => i);
    if (dimension.total === null) return labels;
    return [...labels.filter((i) => i !== dimension.total), dimension.total];
  };
  const columns = single ? [0] : order(cells.dimensions[across]);
  const columnAt = new Map(columns.map((code, i) => [code, i]));
  const dims = single ? [0] : down;
  const ranks = dims.map((d) => { const rank = []; order(cells.dimensions[d]).forEach((code, i) => { rank[code] = i; }); return rank; });
  const size = cells.values.length;
  const keys = new Float64Array(size);
  for (let i = 0; i < size; i += 1) {
    let key = 0;
    for (let k = 0; k < dims.length; k += 1) key = key * cells.dimensions[dims[k]].labels.length + ranks[k][cells.codes[dims[k]][i]];
    keys[i] = key;
  }
  const sorted = Float64Array.from(new Set(keys)).sort();
  const rowAt = new Map();
  sorted.forEach((key, i) => rowAt.set(key, i));
  const place = new Int32Array(sorted.length * columns.length).fill(-1);
  const rowLabels = new Array(sorted.length);
  const rowTotal = new Uint8Array(sorted.length);
  const depths = dims.length === 1 ? cells.dimensions[dims[0]].depths : null;
  const rowDepth = new Uint8Array(sorted.length);
  for (let i = 0; i < size; i += 1) {
    const row = rowAt.get(keys[i]);
    const column = single ? 0 : columnAt.get(cells.codes[across][i]);
    place[row * columns.length + column] = i;
    if (rowLabels[row] === undefined) {
      rowLabels[row] = dims.map((d) => cells.dimensions[d].labels[cells.codes[d][i]]).join(" · ");
      rowTotal[row] = dims.some((d) => cells.codes[d][i] === cells.dimensions[d].total) ? 1 : 0;
      if (depths) rowDepth[row] = Math.max(depths[cells.codes[dims[0]][i]] - 1, 0);
    }
  }
  return {
    cells, across: single ? null : across, dims, rows: rowLabels, rowTotal, rowDepth, place,
    columns: single ? ["figure"] : columns.map((code) => cells.dimensions[across].labels[code]),
    columnTotal: single ? [0] : columns.map((code) => (code === cells.dimensions[across].total ? 1 : 0)),
  };
}

// Sets what differs from what a node shows already: most of a redrawn table is as it was.
function put(node, name, value) {
  const kept = node.kept || (node.kept = {});
  if (kept[name] === value) return;
  kept[name] = value;
  if (name === "text") node.textContent = value;
  else if (name === "class") node.className = value;
  else if (name === "left" || name === "top" || name === "width") node.style[name] = value;
  else if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

// `face(i)` returns {text, level 0–5, hidden, changed, flag, words} of figure number i; `rowNote` and `columnNote` tell the margins.
export class Grid {
  constructor(layout, { face, onSelect, rowNote = null, columnNote = null, name = "table", width = 0 }) {
    Object.assign(this, { layout, face, onSelect, rowNote, columnNote, width });
    this.row = 30;
    this.top = columnNote ? 48 : 30; // the header, with a line for what is known of a column
    this.selected = null;
    this.shown = null;
    this.lines = [];
    this.heads = [];
    this.sheet = el("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": name, "aria-rowcount": layout.rows.length + 1, "aria-colcount": layout.columns.length + 1 + (rowNote ? 1 : 0) });
    this.corner = el("span", { class: "head rowhead", role: "columnheader", "aria-colindex": 1 }, layout.dims.map((d) => layout.cells.dimensions[d].name).join(" · "));
    this.header = el("div", { class: "headrow", role: "row", "aria-rowindex": 1 }, this.corner, rowNote && this.note(rowNote.title, "columnheader"));
    this.body = el("div", { role: "rowgroup" });
    this.sheet.append(this.header, this.body);
    this.node = el("div", { class: "gridbox" }, this.sheet);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.sheet.addEventListener("keydown", (event) => this.key(event));
    this.sheet.addEventListener("click", (event) => { const cell = event.target.closest(".cell"); if (cell) this.select(cell.at[0], cell.at[1]); });
    new ResizeObserver(() => { if (this.seen !== `${this.node.clientWidth} ${this.node.clientHeight}`) this.draw(true); }).observe(this.node);
  }

  // Shows other figures of the same shape, or the same ones with another look.
  show(layout, face) {
    this.face = face;
    if (layout.rows.length !== this.layout.rows.length || layout.columns.length !== this.layout.columns.length) this.widths = null;
    this.layout = layout;
    this.draw(true);
  }

  // Widths follow the longest label, within limits; a small table is only as high as it needs to be.
  measure() {
    const { rows, columns, cells } = this.layout;
    if (!this.widths) {
      const longest = (texts) => { let most = 0; for (const text of texts) most = Math.max(most, text.length); return most; };
      let largest = 0, smallest = 0;
      for (const v of cells.values) { if (v > largest) largest = v; else if (v < smallest) smallest = v; }
      const digits = Math.max(3, ...[largest, smallest].map((v) => String(v).length + Math.floor(String(v).length / 3)));
      const named = this.layout.dims.map((d) => cells.dimensions[d].name).join(" · ").length;
      this.widths = { head: 7.6 * Math.max(longest(rows), named) + 24 + 14 * Math.max(0, ...this.layout.rowDepth), column: 7.8 * Math.max(longest(columns), digits, this.width) + 26 };
      this.sized = null;
    }
    const narrow = window.innerWidth < 860;
    const room = this.node.parentElement ? this.node.parentElement.clientWidth : 0;
    const sized = `${room} ${window.innerHeight} ${narrow}`;
    if (this.sized === sized) return;
    this.sized = sized;
    this.column = Math.round(Math.min(Math.max(this.widths.column, 54), narrow ? 96 : 150));
    this.head = Math.round(Math.min(Math.max(this.widths.head, 64), narrow ? 120 : 260));
    this.notes = this.rowNote ? 78 : 0;
    const width = this.head + this.notes + columns.length * this.column;
    const height = rows.length * this.row + this.top;
    // A bar for scrolling takes room where the table does not fit.
    const bar = (overflows) => (overflows ? 18 : 2);
    const set = (node, values) => { for (const [name, value] of Object.entries(values)) node.style.setProperty(name, value); };
    set(this.node, { "--column": `${this.column}px`, "--head": `${this.head}px`, "--notes": `${this.notes}px`, "max-height": `${height + bar(width + 2 > room)}px`, "max-width": `${width + bar(height > Math.min(0.56 * window.innerHeight, 760))}px` });
    set(this.sheet, { width: `${width}px`, height: `${height}px` });
    set(this.header, { width: `${width}px`, height: `${this.top}px` });
    this.shown = null;
  }

  draw(force = false) {
    this.measure();
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.node;
    this.seen = `${clientWidth} ${clientHeight}`;
    const rows = this.layout.rows.length, columns = this.layout.columns.length;
    const near = (at, window, unit, count) => [Math.max(0, Math.floor((at - window * BEYOND) / unit)), Math.min(count, Math.ceil((at + window * (1 + BEYOND)) / unit))];
    const s = this.shown;
    const enough = s && (s.r0 === 0 || scrollTop / this.row >= s.r0 + SPARE) && (s.r1 === rows || (scrollTop + clientHeight) / this.row <= s.r1 - SPARE)
      && (s.c0 === 0 || scrollLeft / this.column >= s.c0 + 1) && (s.c1 === columns || (scrollLeft + clientWidth) / this.column <= s.c1 - 1);
    if (enough && !force) return;
    if (!enough) {
      const [r0, r1] = near(scrollTop, clientHeight, this.row, rows);
      const [c0, c1] = near(scrollLeft, clientWidth, this.column, columns);
      this.shown = { r0, r1, c0, c1 };
    }
    this.fill();
  }

  // Puts the rows and columns near the window into the page, taking the nodes that are there already.
  fill() {
    const { r0, r1, c0, c1 } = this.shown;
    const { columns } = this.layout;
    const left = (k) => `${this.head + this.notes + (c0 + k) * this.column}px`;
    this.resize(this.header, this.heads, c1 - c0, () => el("span", { class: "head", role: "columnheader" }, el("span", {}), this.columnNote && el("span", { class: "under" })));
    this.heads.forEach((node, k) => {
      const c = c0 + k;
      put(node, "class", this.layout.columnTotal[c] ? "head column total" : "head column");
      put(node, "aria-colindex", c + 2 + (this.rowNote ? 1 : 0));
      put(node, "title", columns[c]);
      put(node, "left", left(k));
      put(node.firstChild, "text", columns[c]);
      if (this.columnNote) put(node.lastChild, "text", this.columnNote(c));
    });
    const fresh = () => { const node = el("div", { role: "row" }, el("span", { class: "head rowhead", role: "rowheader", "aria-colindex": 1 }), this.rowNote && this.note("", "gridcell")); node.cells = []; return node; };
    this.resize(this.body, this.lines, r1 - r0, fresh);
    this.lines.forEach((line, k) => {
      const r = r0 + k;
      put(line, "aria-rowindex", r + 2);
      put(line, "top", `${r * this.row + this.top}px`);
      put(line, "width", this.sheet.style.width);
      put(line.firstChild, "class", this.layout.rowTotal[r] ? "head rowhead total" : "head rowhead");
      put(line.firstChild, "title", this.layout.rows[r]);
      put(line.firstChild, "text", "\u2003".repeat(this.layout.rowDepth[r]) + this.layout.rows[r]);
      if (this.rowNote) put(line.children[1], "text", this.rowNote.text(r));
      this.resize(line, line.cells, c1 - c0, () => { const node = document.createElement("span"); node.setAttribute("role", "gridcell"); return node; });
      for (let at = 0; at < line.cells.length; at += 1) this.cell(line.cells[at], r, c0 + at, left(at));
    });
  }

  // Makes a list of nodes as long as is needed.
  resize(parent, nodes, count, fresh) {
    while (nodes.length > count) nodes.pop().remove();
    if (nodes.length === count) return;
    const more = document.createDocumentFragment();
    while (nodes.length < count) { const node = fresh(); nodes.push(node); more.append(node); }
    parent.append(more);
  }

  note(text, role) {
    return el("span", { class: "head number rownote", role, "aria-colindex": 2 }, text);
  }

  cell(node, r, c, left) {
    const i = this.layout.place[r * this.layout.columns.length + c];
    const look = i < 0 ? { text: "" } : this.face(i);
    const chosen = this.selected !== null && this.selected[0] === r && this.selected[1] === c;
    let classes = "cell";
    if (look.level) classes += ` r${look.level}`;
    if (look.hidden) classes += " hidden-figure";
    if (look.changed) classes += " changed";
    if (look.flag) classes += " flag";
    if (this.layout.rowTotal[r] || this.layout.columnTotal[c]) classes += " total";
    node.at = [r, c];
    put(node, "class", classes);
    put(node, "text", look.text);
    put(node, "left", left);
    put(node, "aria-colindex", c + 2 + (this.rowNote ? 1 : 0));
    put(node, "id", chosen ? "chosen-cell" : null);
    put(node, "aria-selected", chosen ? "true" : null);
    put(node, "title", look.words || null);
    // Row and column are headers already; a name of its own is for what the figure alone does not say.
    put(node, "aria-label", chosen || look.words || look.hidden ? `${this.layout.rows[r]}, ${this.layout.columns[c]}: ${look.hidden ? "hidden" : look.text || "empty"}${look.words ? `, ${look.words}` : ""}` : null);
  }

  select(r, c) {
    const { rows, columns, place } = this.layout;
    const row = Math.min(Math.max(r, 0), rows.length - 1);
    const column = Math.min(Math.max(c, 0), columns.length - 1);
    this.selected = [row, column];
    const top = row * this.row + this.top;
    const lowest = this.node.scrollTop + this.node.clientHeight - 2 * this.row;
    if (top < this.node.scrollTop + this.top) this.node.scrollTop = top - this.top;
    else if (top > lowest) this.node.scrollTop = top - this.node.clientHeight + 2 * this.row;
    const at = column * this.column;
    const room = this.node.clientWidth - this.head - this.notes;
    if (at < this.node.scrollLeft) this.node.scrollLeft = at;
    else if (at + this.column > this.node.scrollLeft + room) this.node.scrollLeft = at + this.column - room;
    this.draw(true);
    this.sheet.setAttribute("aria-activedescendant", "chosen-cell");
    const i = place[row * columns.length + column];
    if (i >= 0 && this.onSelect) this.onSelect(i);
  }

  key(event) {
    const [r, c] = this.selected || [0, 0];
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.row) - 2);
    const moves = { ArrowDown: [r + 1, c], ArrowUp: [r - 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1], PageDown: [r + page, c], PageUp: [r - page, c], Home: [r, 0], End: [r, this.layout.columns.length - 1], Enter: [r, c] };
    const move = event.ctrlKey && event.key === "Home" ? [0, 0] : event.ctrlKey && event.key === "End" ? [this.layout.rows.length - 1, this.layout.columns.length - 1] : moves[event.key];
    if (!move) return;
    event.preventDefault();
    this.select(...move);
  }
}
