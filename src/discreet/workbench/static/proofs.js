// Proofs as people read them: the cell named once, one line where both bounds have one reason, and what every cell shares said once.

import { dataTable, el } from "./dom.js";

// "a=1 ≥ 0: rounded; a=1 ≤ 2: rounded" is "0 to 2: rounded", and its reason "rounded".
export function folded(proof) {
  const name = (proof || "").split(/ [≥≤] /)[0];
  const text = proof ? (proof.startsWith(`${name} `) ? proof.slice(name.length + 1) : proof).replaceAll(`; ${name} `, "; ") : "";
  const equal = text.match(/^≥ (.*); ≤ (.*)$/s);
  if (equal && equal[1] === equal[2]) return { text: `= ${equal[1]}`, why: "" };
  const both = text.match(/^≥ (\S+): (.*); ≤ (\S+): (.*)$/s);
  return both && both[2] === both[4] ? { text: `${both[1]} to ${both[3]}: ${both[2]}`, why: both[2] } : { text, why: "" };
}

// A table of cells whose last column is the proof; a reason that all of them share stands above it instead.
export function withProofs(header, rows, proofs, how) {
  const found = proofs.map(folded);
  const same = found.length > 1 && found[0].why && found.every((one) => one.why === found[0].why) ? found[0].why : "";
  if (same) return el("div", {}, el("p", { class: "small shared-proof" }, `How it follows, for every cell: ${same}.`), dataTable(header, rows, how));
  // The interval stands in the row; a reason that was given before is not given again.
  const texts = found.map((one, i) => (!one.why ? one.text : found.findIndex((other) => other.why === one.why) < i ? "as above" : one.why));
  return dataTable([...header, "proof"], rows.map((row, i) => [...row, texts[i]]), { words: [...how.words, header.length] });
}
