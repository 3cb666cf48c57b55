// Small helpers to build the page. Text always enters as text, never as markup.

export function el(tag, attributes = {}, ...children) {
  const node = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "style") for (const [key, item] of Object.entries(value)) node.style.setProperty(key, item);
    else if (name === "value") node.value = value;
    else if (name === "checked" || name === "disabled" || name === "selected") node[name] = Boolean(value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// What is drawn anew keeps the keyboard where it was: the control of the same name gets the focus back, also when it
// appears only later. If you have moved on meanwhile, nothing happens.
let lost = null;
document.addEventListener("focusin", () => { lost = null; });
const NAMES = ["by", "pick", "hierarchy", "linked", "entry", "file", "tool", "batch", "sheet"];
function nameOf(control) {
  if (control.id) return `#${CSS.escape(control.id)}`;
  const own = NAMES.find((name) => control.dataset && name in control.dataset);
  if (own) return `[data-${own}="${CSS.escape(control.dataset[own])}"]`;
  return control.name ? `[name="${CSS.escape(control.name)}"]${control.type === "radio" ? `[value="${CSS.escape(control.value)}"]` : ""}` : null;
}

export function fill(node, ...children) {
  const active = document.activeElement;
  if (active && active !== document.body && node !== active && node.contains(active)) lost = nameOf(active);
  node.replaceChildren();
  append(node, children);
  const again = lost && node.isConnected && document.activeElement === document.body ? node.querySelector(lost) : null;
  if (again) again.focus({ preventScroll: true });
  return node;
}
// Formatters are kept: making one takes far longer than using it.
const formatters = new Map();
function formatter(least, most) {
  const kept = formatters.get(least * 100 + most);
  if (kept) return kept;
  const fresh = new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most });
  formatters.set(least * 100 + most, fresh);
  return fresh;
}
export const figure = (value, digits = 0) => value === null || value === undefined ? "∞" : formatter(digits && !Number.isInteger(value) ? digits : 0, digits).format(Number(value));
export const risk = (value) => value === null || value === undefined ? "–" : Number(value).toFixed(4);

let timer = 0;
export function toast(text) {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.classList.add("on");
  clearTimeout(timer);
  timer = setTimeout(() => node.classList.remove("on"), 2600);
}

// A button that says why it cannot be used, beside it and to whoever cannot see it.
export function button(attributes, words, why = "") {
  const id = why ? `why-${attributes.id}` : null;
  const made = el("button", { type: "button", ...attributes, disabled: Boolean(why), "aria-describedby": id, title: why || attributes.title || null }, words);
  return why ? [made, el("span", { class: "why", id }, why)] : [made];
}

// A refusal is shown with the command that was refused, so the page never names another one below it.
export function failure(error) {
  if (error.command) document.getElementById("command").textContent = error.command;
  return el("div", { class: "error", role: "alert" }, error.message || String(error));
}

export function progressBar(onCancel) {
  const bar = el("progress", { "aria-label": "progress" });
  const words = el("span", { class: "small quiet" }, "starting");
  const node = el("div", { class: "progress" }, bar, words, onCancel && el("button", { type: "button", on: { click: onCancel } }, "Cancel"));
  const show = (job) => {
    const { done, total, label } = job.progress;
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    const left = job.left === null ? "" : `, about ${job.left < 90 ? `${Math.ceil(job.left)} s` : `${Math.round(job.left / 60)} min`} left`;
    words.textContent = job.state === "waiting" ? "waiting for a free process" : total ? `${figure(done)} of ${figure(total)} ${label}${left}` : "working";
  };
  return { node, show };
}

export function dataTable(header, rows, { words = [] } = {}) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": header.filter(Boolean).join(", ") }, el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, header.map((name, i) => el(name ? "th" : "td", { scope: name ? "col" : null, class: words.includes(i) ? "words" : null }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => el("td", { class: words.includes(i) ? "words" : null }, cell)))))));
}
