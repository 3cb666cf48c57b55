// Where each figure stands: one dimension across, the others down, totals apart, with what was searched and sorted.

// How a table is looked at: `across` is a dimension; `search` are words of labels; `only` tells figures to keep; `sort`
// is "given", "total", "most" or the label of a column; `shut` are rows whose parts are folded away.
export const PLAIN = { across: null, search: "", only: null, sort: "given", shut: [] };

export function layOut(cells, view = PLAIN) {
  const last = cells.dimensions.length - 1;
  const single = last === 0;
  const named = cells.dimensions.findIndex((d) => d.name === view.across);
  const across = single ? null : named < 0 ? last : named;
  const dims = cells.dimensions.map((_, d) => d).filter((d) => d !== across);
  const all = rowsOf(cells, dims);
  const columns = columnsOf(cells, across);
  const grid = placesOf(cells, across, all, columns);
  const sums = sumsOf(cells, across, dims, all, grid);
  const kept = keep(cells, view, all, columns, grid);
  const looking = view.search.trim() || view.only; // what is found is shown, folded away or not
  const rows = sorted(cells, view, columns, grid, sums, looking ? kept.rows : folded(view, all, kept.rows));
  const place = new Int32Array(rows.length * kept.columns.length);
  rows.forEach((r, i) => kept.columns.forEach((c, j) => { place[i * kept.columns.length + j] = grid.place[r * columns.codes.length + c]; }));
  const given = view.sort === "given";
  return {
    cells, across, dims, place, single, down: dims.length === 1 ? dims[0] : null,
    rows: rows.map((r) => all.labels[r]), rowTotal: rows.map((r) => all.total[r]), rowDepth: rows.map((r) => (given ? all.depth[r] : 0)),
    parts: rows.map((r) => given && all.parts[r]), shut: new Set(looking ? [] : view.shut),
    columns: kept.columns.map((c) => columns.labels[c]), columnTotal: kept.columns.map(() => 0),
    totalRow: grid.totalRow && { label: all.totalLabel, at: kept.columns.map((c) => grid.totalRow[c]) },
    totalColumn: grid.totalColumn && { label: columns.totalLabel, at: rows.map((r) => grid.totalColumn[r]) },
    corner: grid.corner,
    sumRow: sums.row && kept.columns.map((c) => sums.row[c]), sumColumn: sums.column && rows.map((r) => sums.column[r]), sumCorner: sums.corner,
    of: all.labels.length, ofColumns: columns.codes.length,
  };
}

// For each category of a dimension the one above it in the hierarchy, -1 at the uppermost level.
function above({ labels, depths, total }) {
  const last = [];
  return labels.map((_, code) => {
    if (!depths || code === total || depths[code] < 1) return -1;
    last[depths[code]] = code;
    return depths[code] > 1 ? last[depths[code] - 1] ?? -1 : -1;
  });
}

function columnsOf(cells, across) {
  if (across === null) return { codes: [0], labels: ["figure"], at: null, totalLabel: null };
  const { labels, total } = cells.dimensions[across];
  const codes = labels.map((_, code) => code).filter((code) => code !== total);
  return { codes, labels: codes.map((code) => labels[code]), at: new Map(codes.map((code, c) => [code, c])), totalLabel: total === null ? null : labels[total] };
}

// The rows that occur, in the order of their labels; one that is the total of every dimension stands apart.
function rowsOf(cells, dims) {
  const size = cells.values.length;
  const sizes = dims.map((d) => cells.dimensions[d].labels.length);
  const totals = dims.map((d) => cells.dimensions[d].total);
  const upper = dims.map((d) => above(cells.dimensions[d]));
  const keyed = new Float64Array(size);
  const found = new Map();
  for (let i = 0; i < size; i += 1) {
    keyed[i] = keyAt((j) => cells.codes[dims[j]][i], sizes, totals);
    if (!found.has(keyed[i])) found.set(keyed[i], dims.map((d) => cells.codes[d][i]));
  }
  const whole = totals.every((t) => t !== null) ? keyAt((j) => totals[j], sizes, totals) : null;
  const keys = Float64Array.from(found.keys()).filter((k) => k !== whole).sort();
  const number = new Map();
  keys.forEach((k, r) => number.set(k, r));
  const rowOf = Int32Array.from(keyed, (k) => number.get(k) ?? -1);
  const codes = Array.from(keys, (k) => found.get(k));
  // The rows of which a row is part, one for each dimension with a hierarchy: the nearest that the table has.
  const partOf = codes.map((c) => upper.map((up, j) => {
    for (let code = up[c[j]]; code >= 0; code = up[code]) {
      const row = number.get(keyAt((k) => (k === j ? code : c[k]), sizes, totals));
      if (row !== undefined) return row;
    }
    return -1;
  }).filter((row) => row >= 0));
  const wholes = new Set(partOf.flat());
  const levels = upper.map((up) => up.map((_, code) => { let level = 0; for (let c = up[code]; c >= 0; c = up[c]) level += 1; return level; }));
  const depth = codes.map((c) => c.reduce((sum, code, j) => sum + levels[j][code], 0));
  return {
    rowOf, depth, partOf,
    labels: codes.map((c) => c.map((code, j) => cells.dimensions[dims[j]].labels[code]).join(" · ")),
    total: codes.map((c) => (c.some((code, j) => code === totals[j]) ? 1 : 0)),
    parts: codes.map((_, r) => wholes.has(r)),
    totalLabel: whole === null ? null : totals.map((t, j) => cells.dimensions[dims[j]].labels[t]).join(" · "),
  };
}

// Rows sort by this number: their codes, the total of a dimension behind its categories.
function keyAt(codeOf, sizes, totals) {
  let k = 0;
  for (let j = 0; j < sizes.length; j += 1) { const code = codeOf(j); k = k * (sizes[j] + 1) + (code === totals[j] ? sizes[j] : code); }
  return k;
}

function placesOf(cells, across, all, columns) {
  const width = columns.codes.length;
  const place = new Int32Array(all.labels.length * width).fill(-1);
  const totalRow = all.totalLabel === null ? null : new Int32Array(width).fill(-1);
  const totalColumn = columns.totalLabel === null ? null : new Int32Array(all.labels.length).fill(-1);
  let corner = -1;
  for (let i = 0; i < cells.values.length; i += 1) {
    const r = all.rowOf[i];
    const c = across === null ? 0 : columns.at.get(cells.codes[across][i]) ?? -1;
    if (r >= 0 && c >= 0) place[r * width + c] = i;
    else if (r >= 0) totalColumn[r] = i;
    else if (c >= 0) totalRow[c] = i;
    else corner = i;
  }
  return { place, totalRow, totalColumn, corner };
}

// Sums of what is shown, where the table has no totals of its own and hides nothing; null elsewhere.
function sumsOf(cells, across, dims, all, grid) {
  const none = { row: null, column: null, corner: null };
  const without = (list) => list.every((d) => cells.dimensions[d].total === null && cells.dimensions[d].depths === null);
  if (cells.hidden.length || (cells.intervals || []).length || !without(dims)) return none;
  const width = grid.place.length / Math.max(all.labels.length, 1);
  const row = new Float64Array(width), column = new Float64Array(all.labels.length);
  grid.place.forEach((i, k) => { if (i >= 0) { row[k % width] += cells.values[i]; column[Math.floor(k / width)] += cells.values[i]; } });
  const crossed = across !== null && without([across]);
  return { row, column: crossed ? column : null, corner: crossed ? row.reduce((a, b) => a + b, 0) : grid.totalColumn ? grid.totalColumn.reduce((a, i) => a + (i < 0 ? 0 : cells.values[i]), 0) : null };
}

// Rows and columns with a figure that is looked for: each word is in a label of its row or column, or is the figure.
function keep(cells, view, all, columns, grid) {
  const words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  const everything = { rows: all.labels.map((_, r) => r), columns: columns.codes.map((_, c) => c) };
  if (!words.length && !view.only) return everything;
  const lower = (labels) => labels.map((label) => label.toLowerCase());
  const rowNames = lower(all.labels), columnNames = lower(columns.labels);
  const width = columns.codes.length;
  const rows = new Set(), found = new Set();
  const fits = (i, r, c) => words.every((w) => (r >= 0 && rowNames[r].includes(w)) || (c >= 0 && columnNames[c].includes(w)) || String(cells.values[i] / 10 ** cells.decimals) === w) && (!view.only || view.only(i));
  grid.place.forEach((i, k) => { const [r, c] = [Math.floor(k / width), k % width]; if (i >= 0 && fits(i, r, c)) { rows.add(r); found.add(c); } });
  if (grid.totalColumn) grid.totalColumn.forEach((i, r) => { if (i >= 0 && fits(i, r, -1)) rows.add(r); });
  if (grid.totalRow) grid.totalRow.forEach((i, c) => { if (i >= 0 && fits(i, -1, c)) found.add(c); });
  return { rows: everything.rows.filter((r) => rows.has(r)), columns: everything.columns.filter((c) => found.has(c) || !found.size) };
}

// Rows without those of which a whole is folded, along whichever dimension.
function folded(view, all, rows) {
  if (!view.shut.length) return rows;
  const shut = new Set(view.shut);
  const known = new Map();
  const gone = (r) => {
    if (!known.has(r)) known.set(r, all.partOf[r].some((whole) => shut.has(all.labels[whole]) || gone(whole)));
    return known.get(r);
  };
  return rows.filter((r) => !gone(r));
}

function sorted(cells, view, columns, grid, sums, rows) {
  const width = columns.codes.length;
  const value = (i) => (i < 0 ? -Infinity : cells.values[i]);
  const total = (r) => (grid.totalColumn ? value(grid.totalColumn[r]) : sums.column ? sums.column[r] : most(r));
  const most = (r) => { let best = -Infinity; for (let c = 0; c < width; c += 1) best = Math.max(best, value(grid.place[r * width + c])); return best; };
  const at = columns.labels.indexOf(view.sort);
  const by = view.sort === "total" ? total : view.sort === "most" ? most : at >= 0 ? (r) => value(grid.place[r * width + at]) : null;
  return by ? [...rows].sort((a, b) => by(b) - by(a) || a - b) : rows;
}
