// Forms that the command line describes itself: one field per option, with its help and its default.

import { el } from "./dom.js";

// What fields are called where the option's own name says too little.
const TITLES = {
  about: "dimensions asked about", additive: "cells add up to the totals", allow: "what may be merged", apart: "dimensions that only look alike",
  apriori: "wishes about single cells", bound: "largest noise", carry: "columns that move along", coalition: "what the members know", contribution: "column of amounts",
  contributions: "file of contributions", contributor: "column that says whose", cost: "what suppressing costs", change_weights: "what changes cost", nearest: "nearest rounding",
  form: "how hidden cells are shown", fraction: "share of all people", holding: "column of holdings", identify: "column that names people", insider: "what the insider knows",
  insiders: "respondents who are tried", keep: "margins that are kept", keep_all: "dimensions of all margins kept", largest_weights: "weights of the largest contributions",
  know: "what everybody knows", law: "how a reader weighs values", least: "least possible value", level: "level of a hierarchy", hide_up_to: "largest count hidden",
  linked: "tables protected together", max_dr: "largest disclosure risk (1/H)", max_r1: "largest risk R1", max_violations: "sensitive cells left at most",
  match: "what partners share", merge: "categories to merge", min_width: "least width of an interval", minimum: "least count published", monotone: "small noise likelier than large",
  norm: "what is kept small", order: "order of categories", protection: "width needed, in % of the original", ptable: "perturbation table",
  publish_total: "publish how many people there are", radius: "largest change of other figures, in %", rate: "share or probability", record_key: "column of record keys", rule: "rules",
  sample_size: "people in the sample", sampler: "how it is drawn", search: "effort of the search", seed: "seed of the draws", share: "largest noise, as a share", size: "people from each stratum", statistic: "statistics beside the figures", stay: "least probability of no change",
  step: "steps, in their order", table_law: "law of the tables drawn", time_limit: "time limit, in seconds", tries: "recodings tried at most", trial: "only a trial", unbiased: "unbiased", variance: "variance of the noise",
  with_margins: "publish margins too", within: "closeness that is too much, in %", zeros: "zeros",
};
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
  const title = TITLES[p.name] || p.flag.replace(/^--/, "").replaceAll("-", " ");
  const help = p.help && el("span", { class: "help" }, inWords(p.help));
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

// Help as it reads beside a field: several values stand on a line each, and other fields have names instead of flags.
const inWords = (help) => help.replace(/[,;.]? ?repeat it( for several[a-z ]*)?\./i, "; a line each.").replace(/--([a-z-]+)/g, (_, flag) => `“${TITLES[flag.replaceAll("-", "_")] || flag.replaceAll("-", " ")}”`);

// Help texts that list words, as "uniform or hypergeometric.", become choices.
function choicesOf(p) {
  if (p.kind !== "text" || p.several) return null;
  const found = /^([a-z-]+(?:, [a-z-]+)*,? or [a-z-]+)(?=[.:;]|$)/.exec(p.help || "");
  if (!found) return null;
  const words = found[1].split(/, | or /).map((w) => w.replace(/^or /, "").trim()).filter(Boolean);
  return words.length > 1 && (p.default === null || words.includes(String(p.default))) ? words : null;
}
