// Figures in columns, as `discreet inspect --figures` prints them: their labels, and where each of them is.

import { figure } from "./dom.js";

export const labelsOf = (cells, i) => Object.fromEntries(cells.dimensions.map((d, k) => [d.name, d.labels[cells.codes[k][i]]]));
export const nameOf = (labels) => Object.values(labels).join(" · ");
export const printed = (cells, i) => figure(cells.values[i] / 10 ** cells.decimals, cells.decimals);

// Finds figures by labels; a dimension that is left out means its total.
export class Places {
  constructor(cells) {
    this.cells = cells;
    this.codes = cells.dimensions.map((d) => new Map(d.labels.map((label, code) => [label, code])));
    this.found = new Map();
    for (let i = 0; i < cells.values.length; i += 1) this.found.set(this.key((d) => cells.codes[d][i]), i);
  }

  key(codeOf) {
    let key = 0;
    for (let d = 0; d < this.cells.dimensions.length; d += 1) key = key * this.cells.dimensions[d].labels.length + codeOf(d);
    return key;
  }

  at(labels) {
    const codes = this.cells.dimensions.map((d, k) => this.code(k, labels[d.name]));
    return codes.some((code) => code === null || code === undefined) ? undefined : this.found.get(this.key((d) => codes[d]));
  }

  code(k, label) {
    const { total } = this.cells.dimensions[k];
    return label === undefined ? total : this.codes[k].get(label) ?? (label === "Total" ? total : undefined);
  }

  // Returns, for each figure of another table, its place in this one, or -1.
  of(other) {
    const at = this.cells.dimensions.map((d) => other.dimensions.findIndex((o) => o.name === d.name));
    const turned = this.cells.dimensions.map((d, k) => (at[k] < 0 ? null : other.dimensions[at[k]].labels.map((label) => this.code(k, label) ?? -1)));
    const places = new Int32Array(other.values.length).fill(-1);
    for (let i = 0; i < places.length; i += 1) {
      let known = true;
      const key = this.key((d) => { const code = turned[d] ? turned[d][other.codes[at[d]][i]] : this.cells.dimensions[d].total ?? -1; known = known && code >= 0; return code; });
      if (known) places[i] = this.found.get(key) ?? -1;
    }
    return places;
  }
}
