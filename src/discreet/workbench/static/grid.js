// A table of any size: only what is near the window is in the page, drawn from arrays that are already here.

import { el, figure, fill } from "./dom.js";

const BEYOND = 0.7; // windows drawn before and after the visible one, so scrolling never shows a gap
const SPARE = 4; // rows left before the next ones are drawn

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

// `face(i)` returns {text, level 0–5, hidden, changed, flag, words} of figure number i; `rowNote` and `columnNote` tell
// the margins of a layout. Totals stand beside the names of rows and below those of columns, and stay there: they are
// row and column -1.
export class Grid {
  constructor(layout, { face, onSelect, rowNote = null, columnNote = null, name = "table", width = 0, onFold = null, onSort = null }) {
    Object.assign(this, { layout, face, onSelect, rowNote, columnNote, width, onFold, onSort });
    this.row = 30;
    this.selected = null;
    this.shown = null;
    this.lines = [];
    this.heads = [];
    this.sheet = el("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": name });
    this.corner = el("span", { class: "head rowhead", role: "columnheader", "aria-colindex": 1 });
    this.totalHead = el("span", { class: "head pinned total", role: "columnheader", "aria-colindex": 2 }, el("span", {}));
    this.noteHead = rowNote && this.note(rowNote.title, "columnheader");
    this.header = el("div", { class: "headrow", role: "row", "aria-rowindex": 1 }, this.corner, this.totalHead, this.noteHead);
    this.totals = this.line("totalrow");
    this.body = el("div", { role: "rowgroup" });
    this.sheet.append(this.header, this.totals, this.body);
    this.node = el("div", { class: "gridbox" }, this.sheet);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.sheet.addEventListener("keydown", (event) => this.key(event));
    this.sheet.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => { if (this.seen !== `${this.node.clientWidth} ${this.node.clientHeight}`) this.draw(true); }).observe(this.node);
    this.take(layout);
  }

  // Takes another layout: which totals there are, and what the corner says.
  take(layout) {
    this.layout = layout;
    this.pinsRow = Boolean(layout.totalRow || layout.sumRow);
    this.pinsColumn = Boolean(layout.totalColumn || layout.sumColumn);
    const names = layout.cells.dimensions;
    const down = layout.dims.map((d) => names[d].name).join(" · ");
    fill(this.corner, el("span", { class: "down" }, down), layout.across === null ? null : el("span", { class: "across" }, `${names[layout.across].name} →`));
    this.corner.title = layout.across === null ? down : `${down} down, ${names[layout.across].name} across`;
    this.top = this.columnNote || layout.across !== null ? 48 : 30; // a second line for the name across, and for notes
    this.totalHead.hidden = !this.pinsColumn;
    this.totals.hidden = !this.pinsRow;
    this.totalHead.firstChild.textContent = layout.totalColumn ? layout.totalColumn.label : "sum";
    this.sheet.setAttribute("role", layout.parts.some(Boolean) ? "treegrid" : "grid");
    this.sheet.setAttribute("aria-rowcount", layout.rows.length + 1 + (this.pinsRow ? 1 : 0));
    this.sheet.setAttribute("aria-colcount", layout.columns.length + 1 + (this.pinsColumn ? 1 : 0) + (this.rowNote ? 1 : 0));
  }

  // Shows other figures, or the same ones with another look or another layout.
  show(layout, face = this.face) {
    this.face = face;
    const kept = this.selected && this.at(...this.selected);
    const same = layout.rows.length === this.layout.rows.length && layout.columns.length === this.layout.columns.length && layout.across === this.layout.across;
    this.take(layout);
    if (!same) { this.widths = null; this.shown = null; this.sized = null; }
    if (kept !== null && kept >= 0) this.selected = this.find(kept);
    this.draw(true);
  }

  // The number of the figure in a row and column, or -1.
  at(r, c) {
    const { place, columns, totalRow, totalColumn, corner } = this.layout;
    if (r >= 0 && c >= 0) return place[r * columns.length + c];
    if (r >= 0) return totalColumn ? totalColumn.at[r] : -1;
    if (c >= 0) return totalRow ? totalRow.at[c] : -1;
    return corner;
  }

  find(i) {
    const { place, columns, totalRow, totalColumn, corner } = this.layout;
    const k = place.indexOf(i);
    if (k >= 0) return [Math.floor(k / columns.length), k % columns.length];
    if (totalColumn && totalColumn.at.includes(i)) return [totalColumn.at.indexOf(i), -1];
    if (totalRow && totalRow.at.includes(i)) return [-1, totalRow.at.indexOf(i)];
    return corner === i ? [-1, -1] : null;
  }

  // Widths follow the longest label, within limits; a small table is only as high as it needs to be.
  measure() {
    const { rows, columns, cells } = this.layout;
    if (!this.widths) {
      const longest = (texts) => { let most = 0; for (const text of texts) most = Math.max(most, text.length); return most; };
      let largest = 0, smallest = 0;
      for (const v of cells.values) { if (v > largest) largest = v; else if (v < smallest) smallest = v; }
      if (this.layout.sumCorner) largest = Math.max(largest, this.layout.sumCorner);
      const digits = Math.max(3, ...[largest, smallest].map((v) => String(v).length + Math.floor(String(v).length / 3)));
      const named = Math.max(this.layout.dims.map((d) => cells.dimensions[d].name).join(" · ").length, this.layout.across === null ? 0 : cells.dimensions[this.layout.across].name.length + 2);
      const total = this.layout.totalColumn ? this.layout.totalColumn.label.length : 3;
      this.widths = { head: 7.6 * Math.max(longest(rows), named, this.layout.totalRow ? this.layout.totalRow.label.length : 3) + 24 + 14 * (Math.max(0, ...this.layout.rowDepth) + (this.layout.parts.some(Boolean) ? 1 : 0)), column: 7.8 * Math.max(longest(columns), digits, this.width, total) + 26 };
      this.sized = null;
    }
    const narrow = window.innerWidth < 860;
    const room = this.node.parentElement ? this.node.parentElement.clientWidth : 0;
    const sized = `${room} ${window.innerHeight} ${narrow}`;
    if (this.sized === sized) return;
    this.sized = sized;
    this.column = Math.round(Math.min(Math.max(this.widths.column, 54), narrow ? 96 : 190));
    this.head = Math.round(Math.min(Math.max(this.widths.head, 64), narrow ? 120 : 300));
    this.notes = this.rowNote ? 78 : 0;
    this.pin = this.pinsColumn ? this.column : 0;
    this.above = this.top + (this.pinsRow ? this.row : 0);
    this.before = this.head + this.pin + this.notes;
    const width = this.before + columns.length * this.column;
    const height = rows.length * this.row + this.above;
    this.full = [width, height];
    // A bar for scrolling takes room where the table does not fit.
    const bar = (overflows) => (overflows ? 18 : 2);
    const set = (node, values) => { for (const [name, value] of Object.entries(values)) node.style.setProperty(name, value); };
    set(this.node, { "--column": `${this.column}px`, "--head": `${this.head}px`, "--pin": `${this.pin}px`, "--notes": `${this.notes}px`, "--top": `${this.top}px`, "max-height": `${height + bar(width + 2 > room)}px`, "max-width": `${width + bar(height > Math.min(0.56 * window.innerHeight, 760))}px` });
    set(this.sheet, { width: `${width}px`, height: `${height}px` });
    set(this.header, { width: `${width}px`, height: `${this.top}px` });
    set(this.totals, { width: `${width}px` });
    this.shown = null;
  }

  draw(force = false) {
    this.measure();
    const { clientHeight, clientWidth } = this.node;
    // Rows and columns that are still where a larger table had them do not count.
    const scrollTop = Math.min(this.node.scrollTop, Math.max(0, this.full[1] - clientHeight));
    const scrollLeft = Math.min(this.node.scrollLeft, Math.max(0, this.full[0] - clientWidth));
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
    const left = (k) => `${this.before + (c0 + k) * this.column}px`;
    this.resize(this.header, this.heads, c1 - c0, () => el("span", { class: "head column", role: "columnheader" }, el("span", {}), this.columnNote && el("span", { class: "under" })));
    this.heads.forEach((node, k) => {
      const c = c0 + k;
      put(node, "aria-colindex", this.columnIndex(c));
      put(node, "title", this.onSort ? `${columns[c]}: sort by it` : columns[c]);
      put(node, "left", left(k));
      put(node.firstChild, "text", columns[c]);
      if (this.columnNote) put(node.lastChild, "text", this.columnNote.text(this.layout, c));
      node.sorts = columns[c];
    });
    this.resize(this.body, this.lines, r1 - r0, () => this.line());
    this.lines.forEach((line, k) => {
      put(line, "aria-rowindex", r0 + k + 2 + (this.pinsRow ? 1 : 0));
      put(line, "top", `${(r0 + k) * this.row + this.above}px`);
      put(line, "width", this.sheet.style.width);
      this.fillLine(line, r0 + k, c0, c1, left);
    });
    if (this.pinsRow) { put(this.totals, "aria-rowindex", 2); this.fillLine(this.totals, -1, c0, c1, left); }
  }

  line(name = "") {
    const node = el("div", { role: "row", class: name || null }, el("span", { class: "head rowhead", role: "rowheader", "aria-colindex": 1 }), el("span", { class: "cell pinned", role: "gridcell" }), this.rowNote && this.note("", "gridcell"));
    node.cells = [];
    return node;
  }

  fillLine(line, r, c0, c1, left) {
    const { layout } = this;
    const label = r >= 0 ? layout.rows[r] : layout.totalRow ? layout.totalRow.label : "sum";
    const parts = r >= 0 && layout.parts[r];
    const shut = parts && layout.shut.has(label);
    put(line.firstChild, "class", `head rowhead${r < 0 || layout.rowTotal[r] ? " total" : ""}${parts ? " parts" : ""}`);
    put(line.firstChild, "title", parts ? `${label}: ${shut ? "unfold" : "fold"} (${shut ? "+" : "-"})` : label);
    put(line, "aria-expanded", parts ? String(!shut) : null);
    put(line.firstChild, "text", "\u2003".repeat(r >= 0 ? layout.rowDepth[r] : 0) + (parts ? (shut ? "▸ " : "▾ ") : "") + label);
    line.firstChild.folds = parts ? label : null;
    line.children[1].hidden = !this.pinsColumn;
    if (this.pinsColumn) this.cell(line.children[1], r, -1, null);
    if (this.rowNote) put(line.children[2], "text", r < 0 ? "" : this.rowNote.text(layout, r));
    this.resize(line, line.cells, c1 - c0, () => { const node = document.createElement("span"); node.setAttribute("role", "gridcell"); return node; });
    for (let k = 0; k < line.cells.length; k += 1) this.cell(line.cells[k], r, c0 + k, left(k));
  }

  columnIndex(c) { return c < 0 ? 2 : c + 2 + (this.pinsColumn ? 1 : 0) + (this.rowNote ? 1 : 0); }

  // Makes a list of nodes as long as is needed.
  resize(parent, nodes, count, fresh) {
    while (nodes.length > count) nodes.pop().remove();
    if (nodes.length === count) return;
    const more = document.createDocumentFragment();
    while (nodes.length < count) { const node = fresh(); nodes.push(node); more.append(node); }
    parent.append(more);
  }

  note(text, role) {
    return el("span", { class: "head number rownote", role }, text);
  }

  // A sum of what is shown, where the table has no total of its own.
  sum(r, c) {
    const { sumRow, sumColumn, sumCorner, cells } = this.layout;
    const value = r < 0 && c < 0 ? sumCorner : r < 0 ? sumRow && sumRow[c] : c < 0 ? sumColumn && sumColumn[r] : null;
    return value === null || value === undefined ? { text: "" } : { text: figure(value / 10 ** cells.decimals, cells.decimals), sum: true, words: "a sum of the figures shown, not one of the table" };
  }

  cell(node, r, c, left) {
    const i = this.at(r, c);
    const look = i < 0 ? this.sum(r, c) : this.face(i);
    const chosen = this.selected !== null && this.selected[0] === r && this.selected[1] === c;
    let classes = c < 0 ? "cell pinned" : "cell";
    if (look.level) classes += ` r${look.level}`;
    if (look.hidden) classes += " hidden-figure";
    if (look.changed) classes += " changed";
    if (look.flag) classes += " flag";
    if (look.sum) classes += " sum";
    if (r < 0 || c < 0 || this.layout.rowTotal[r]) classes += " total";
    node.at = [r, c];
    put(node, "class", classes);
    put(node, "text", look.text);
    if (left !== null) put(node, "left", left);
    put(node, "aria-colindex", this.columnIndex(c));
    put(node, "id", chosen ? "chosen-cell" : null);
    put(node, "aria-selected", chosen ? "true" : null);
    put(node, "title", look.words || null);
    // Row and column are headers already; a name of its own is for what the figure alone does not say.
    const row = r < 0 ? "total" : this.layout.rows[r], column = c < 0 ? "total" : this.layout.columns[c];
    put(node, "aria-label", chosen || look.words || look.hidden ? `${row}, ${column}: ${look.hidden ? "hidden" : look.text || "empty"}${look.words ? `, ${look.words}` : ""}` : null);
  }

  select(r, c) {
    const { rows, columns } = this.layout;
    if (!rows.length) return;
    const row = Math.min(Math.max(r, this.pinsRow ? -1 : 0), rows.length - 1);
    const column = Math.min(Math.max(c, this.pinsColumn ? -1 : 0), columns.length - 1);
    this.selected = [row, column];
    if (row >= 0) {
      const top = row * this.row + this.above;
      if (top < this.node.scrollTop + this.above) this.node.scrollTop = top - this.above;
      else if (top > this.node.scrollTop + this.node.clientHeight - 2 * this.row) this.node.scrollTop = top - this.node.clientHeight + 2 * this.row;
    }
    if (column >= 0) {
      const at = column * this.column;
      const room = this.node.clientWidth - this.before;
      if (at < this.node.scrollLeft) this.node.scrollLeft = at;
      else if (at + this.column > this.node.scrollLeft + room) this.node.scrollLeft = at + this.column - room;
    }
    this.draw(true);
    this.sheet.setAttribute("aria-activedescendant", "chosen-cell");
    const i = this.at(row, column);
    if (i >= 0 && this.onSelect) this.onSelect(i);
  }

  // Goes to the next figure that is flagged, row by row, from the chosen one on; false if there is none.
  next() {
    const { rows, columns } = this.layout;
    const width = columns.length + 1, all = (rows.length + 1) * width;
    const [r, c] = this.selected || [-1, -2];
    const begun = (r + 1) * width + c + 1;
    for (let step = 1; step <= all; step += 1) {
      const k = (((begun + step) % all) + all) % all;
      const place = [Math.floor(k / width) - 1, (k % width) - 1];
      const i = this.at(...place);
      if (i >= 0 && this.face(i).flag) { this.select(...place); return true; }
    }
    return false;
  }

  click(event) {
    const fold = event.target.closest(".parts");
    if (fold && this.onFold) { this.onFold(fold.folds); return; }
    const head = event.target.closest(".head.column");
    if (head && this.onSort) { this.onSort(head.sorts); return; }
    const cell = event.target.closest(".cell");
    if (cell && cell.at) this.select(cell.at[0], cell.at[1]);
  }

  key(event) {
    const [r, c] = this.selected || [0, 0];
    if ((event.key === "+" || event.key === "-") && this.onFold && r >= 0 && this.layout.parts[r]) {
      const label = this.layout.rows[r];
      if (this.layout.shut.has(label) === (event.key === "+")) this.onFold(label);
      event.preventDefault();
      return;
    }
    if (event.key === "n" && !event.ctrlKey && !event.altKey && !event.metaKey) { this.next(); event.preventDefault(); return; }
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.row) - 3);
    const moves = { ArrowDown: [r + 1, c], ArrowUp: [r - 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1], PageDown: [r + page, c], PageUp: [r - page, c], Home: [r, 0], End: [r, this.layout.columns.length - 1], Enter: [r, c] };
    const move = event.ctrlKey && event.key === "Home" ? [0, 0] : event.ctrlKey && event.key === "End" ? [this.layout.rows.length - 1, this.layout.columns.length - 1] : moves[event.key];
    if (!move) return;
    event.preventDefault();
    this.select(...move);
  }
}
