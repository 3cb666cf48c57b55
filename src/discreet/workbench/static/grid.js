// A table of any size: only what is near the window is in the page, drawn from arrays that are already here.

import { el } from "./dom.js";

const BEYOND = 1.2; // windows drawn before and after the visible one, so that scrolling never shows a gap

// Lays figures out: the last dimension across, the others down. Returns rows, columns and where each figure stands.
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
  const rowCodes = new Array(sorted.length);
  for (let i = 0; i < size; i += 1) {
    const row = rowAt.get(keys[i]);
    const column = single ? 0 : columnAt.get(cells.codes[across][i]);
    place[row * columns.length + column] = i;
    if (rowLabels[row] === undefined) {
      rowLabels[row] = dims.map((d) => cells.dimensions[d].labels[cells.codes[d][i]]).join(" · ");
      rowTotal[row] = dims.some((d) => cells.codes[d][i] === cells.dimensions[d].total) ? 1 : 0;
      rowCodes[row] = dims.map((d) => cells.codes[d][i]);
    }
  }
  return {
    cells, across: single ? null : across, dims, rows: rowLabels, rowTotal, rowCodes, place,
    columns: single ? ["figure"] : columns.map((code) => cells.dimensions[across].labels[code]),
    columnTotal: single ? [0] : columns.map((code) => (code === cells.dimensions[across].total ? 1 : 0)),
    columnCodes: columns,
  };
}

export const labelsOf = (cells, i) => Object.fromEntries(cells.dimensions.map((d, k) => [d.name, d.labels[cells.codes[k][i]]]));

// `face(i)` returns {text, level 0–5, hidden, changed, flag, words} of figure number i; `margins` gives row and column notes.
export class Grid {
  constructor(layout, { face, onSelect, rowNote = null, columnNote = null, name = "table", width = 0 }) {
    Object.assign(this, { layout, face, onSelect, rowNote, columnNote, width });
    this.row = 30;
    this.top = columnNote ? 48 : 30; // the header, with a line for what is known of a column
    this.selected = null;
    this.shown = null;
    this.sheet = el("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": name, "aria-rowcount": layout.rows.length + 1, "aria-colcount": layout.columns.length + 1 + (rowNote ? 1 : 0) });
    this.header = el("div", { class: "headrow", role: "row", "aria-rowindex": 1 });
    this.body = el("div", { role: "rowgroup" });
    this.sheet.append(this.header, this.body);
    this.node = el("div", { class: "gridbox" }, this.sheet);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.sheet.addEventListener("keydown", (event) => this.key(event));
    this.sheet.addEventListener("click", (event) => { const cell = event.target.closest(".cell"); if (cell) this.select(Number(cell.dataset.r), Number(cell.dataset.c)); });
    new ResizeObserver(() => { if (this.node.clientWidth !== this.seen) { this.seen = this.node.clientWidth; this.shown = null; this.draw(); } }).observe(this.node);
  }

  // Widths follow the longest label, within limits; a small table is only as high as it needs to be.
  measure() {
    const { rows, columns, cells } = this.layout;
    if (!this.widths) {
      const longest = (texts) => { let most = 0; for (const text of texts) most = Math.max(most, text.length); return most; };
      let largest = 3;
      for (const v of cells.values) largest = Math.max(largest, String(v).length + Math.floor(String(v).length / 3));
      const named = this.layout.dims.map((d) => cells.dimensions[d].name).join(" · ").length;
      this.widths = { head: 7.6 * Math.max(longest(rows), named) + 24, column: 7.8 * Math.max(longest(columns), largest, this.width) + 26 };
    }
    const narrow = window.innerWidth < 860;
    this.column = Math.min(Math.max(this.widths.column, 54), narrow ? 96 : 150);
    this.head = Math.min(Math.max(this.widths.head, 64), narrow ? 120 : 260);
    this.notes = this.rowNote ? 78 : 0;
    this.node.style.setProperty("--column", `${this.column}px`);
    this.node.style.setProperty("--head", `${this.head}px`);
    const width = this.head + this.notes + columns.length * this.column;
    this.sheet.style.width = `${width}px`;
    this.sheet.style.height = `${rows.length * this.row + this.top}px`;
    this.node.style.maxHeight = `${rows.length * this.row + this.top + 18}px`;
    this.node.style.maxWidth = `${width + 18}px`;
    this.header.style.width = this.sheet.style.width;
    this.header.style.height = `${this.top}px`;
  }

  draw(force = false) {
    this.measure();
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.node;
    const { rows, columns } = this.layout;
    const near = (at, window, unit, count) => [Math.max(0, Math.floor((at - window * BEYOND) / unit)), Math.min(count, Math.ceil((at + window * (1 + BEYOND)) / unit))];
    const visible = [Math.floor(scrollTop / this.row), Math.ceil((scrollTop + clientHeight) / this.row), Math.floor(scrollLeft / this.column), Math.ceil((scrollLeft + clientWidth) / this.column)];
    const s = this.shown;
    if (!force && s && visible[0] >= s.r0 + (s.r0 && 4) && visible[1] <= s.r1 - (s.r1 < rows.length ? 4 : -99) && visible[2] >= s.c0 + (s.c0 && 1) && visible[3] <= s.c1 + (s.c1 < columns.length ? -1 : 99)) return;
    const [r0, r1] = near(scrollTop, clientHeight, this.row, rows.length);
    const [c0, c1] = near(scrollLeft, clientWidth, this.column, columns.length);
    this.shown = { r0, r1, c0, c1 };
    const left = (c) => `${this.head + this.notes + c * this.column}px`;
    const head = [el("span", { class: "head rowhead", role: "columnheader" }, this.layout.dims.map((d) => this.layout.cells.dimensions[d].name).join(" · "))];
    if (this.rowNote) head.push(this.note(this.rowNote.title, "columnheader"));
    for (let c = c0; c < c1; c += 1) head.push(el("span", { class: `head${this.layout.columnTotal[c] ? " total" : ""}`, role: "columnheader", "aria-colindex": c + 2, title: columns[c], style: { left: left(c), width: "var(--column)" } }, columns[c], this.columnNote && el("span", { class: "under" }, this.columnNote(c))));
    this.header.replaceChildren(...head);
    const lines = [];
    for (let r = r0; r < r1; r += 1) {
      const parts = [el("span", { class: `head rowhead${this.layout.rowTotal[r] ? " total" : ""}`, role: "rowheader", title: rows[r] }, rows[r])];
      if (this.rowNote) parts.push(this.note(this.rowNote.text(r), "gridcell"));
      for (let c = c0; c < c1; c += 1) parts.push(this.cell(r, c, left(c)));
      lines.push(el("div", { role: "row", "aria-rowindex": r + 2, style: { top: `${r * this.row + this.top}px`, width: this.sheet.style.width } }, parts));
    }
    this.body.replaceChildren(...lines);
  }

  note(text, role) {
    return el("span", { class: "head number", role, style: { left: `${this.head}px`, width: `${this.notes}px`, "text-align": "right" } }, text);
  }

  cell(r, c, left) {
    const i = this.layout.place[r * this.layout.columns.length + c];
    const look = i < 0 ? { text: "", level: 0 } : this.face(i);
    const total = this.layout.rowTotal[r] || this.layout.columnTotal[c];
    const classes = ["cell", look.level ? `r${look.level}` : "", look.hidden ? "hidden-figure" : "", look.changed ? "changed" : "", look.flag ? "flag" : "", total ? "total" : ""];
    const chosen = this.selected && this.selected[0] === r && this.selected[1] === c;
    const words = `${this.layout.rows[r]}, ${this.layout.columns[c]}: ${look.hidden ? "hidden" : look.text || "empty"}${look.words ? `, ${look.words}` : ""}`;
    return el("span", { class: classes.filter(Boolean).join(" "), role: "gridcell", id: chosen ? "chosen-cell" : null, "aria-colindex": c + 2, "aria-selected": chosen ? "true" : "false", "aria-label": words, title: look.words || null, "data-r": r, "data-c": c, style: { left } }, look.text);
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

  find(i) {
    const at = this.layout.place.indexOf(i);
    if (at >= 0) this.select(Math.floor(at / this.layout.columns.length), at % this.layout.columns.length);
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
