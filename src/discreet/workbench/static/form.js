// Forms that the command line describes itself: one field per option, with its help and its default.

import { el } from "./dom.js";

const READING = new Set(["Reading the table", "Reading the records", "From records", "Output"]);

// Fields for the options of a command, those of `first` in front, the rest folded away; `onChange` gets all values.
export function form(spec, values, { first = [], leave = [], files = [], onChange }) {
  const current = { ...values };
  const wanted = spec.parameters.filter((p) => p.flag && !leave.includes(p.name) && !READING.has(p.panel));
  const front = wanted.filter((p) => first.includes(p.name) || (!first.length && !p.panel));
  const rest = wanted.filter((p) => !front.includes(p));
  const update = (name, value) => {
    if (value === "" || value === null || value === false) delete current[name]; else current[name] = value;
    onChange({ ...current });
  };
  const field = (p) => input(p, current[p.name], files, (value) => update(p.name, value));
  return el("form", { class: "options", on: { submit: (event) => event.preventDefault() } },
    front.map(field),
    rest.length ? el("details", {}, el("summary", {}, `${rest.length} more options`), rest.map(field)) : null);
}

function input(p, value, files, onChange) {
  const title = p.flag.replace(/^--/, "").replaceAll("-", " ");
  const help = p.help && el("span", { class: "help" }, p.help);
  const id = `option-${p.name}`;
  if (p.kind === "flag") {
    return el("label", { class: "check" }, el("input", { type: "checkbox", id, checked: value === true, on: { change: (e) => onChange(e.target.checked) } }), el("span", {}, title, help));
  }
  const shown = value ?? (p.several ? "" : p.default ?? "");
  const choices = choicesOf(p);
  let control;
  if (p.kind === "file") control = el("select", { id, on: { change: (e) => onChange(e.target.value) } }, el("option", { value: "" }, "none"), files.map((f) => el("option", { value: f.name, selected: f.name === value }, f.name)));
  else if (choices) control = el("select", { id, on: { change: (e) => onChange(e.target.value) } }, p.required || p.default ? null : el("option", { value: "" }, "–"), choices.map((c) => el("option", { value: c, selected: c === String(shown) }, c)));
  else {
    const number = p.kind === "integer" || p.kind === "number";
    const read = (e) => onChange(p.several ? e.target.value.split("\n").map((t) => t.trim()).filter(Boolean) : number && e.target.value !== "" ? Number(e.target.value) : e.target.value);
    const attributes = { id, name: p.name, on: { input: read }, value: Array.isArray(shown) ? shown.join("\n") : String(shown) };
    control = p.several ? el("textarea", { rows: 2, ...attributes }) : el("input", { type: number ? "number" : "text", step: p.kind === "integer" ? 1 : "any", ...attributes });
  }
  return el("label", { for: id }, el("span", {}, title, p.required ? " (needed)" : ""), control, help);
}

// Help texts that list words, as "uniform or hypergeometric.", become choices.
function choicesOf(p) {
  if (p.kind !== "text" || p.several) return null;
  const found = /^([a-z-]+(?:, [a-z-]+)*,? or [a-z-]+)(?=[.:;]|$)/.exec(p.help || "");
  if (!found) return null;
  const words = found[1].split(/, | or /).map((w) => w.replace(/^or /, "").trim()).filter(Boolean);
  return words.length > 1 && (p.default === null || words.includes(String(p.default))) ? words : null;
}
