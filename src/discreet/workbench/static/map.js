// The risk–utility map: a point per protection, the efficient frontier, and the policy's limits, in the report's colours.

import { el } from "./dom.js";

const LEFT = 74, RIGHT = 26, TOP = 34, BOTTOM = 52;
export const AXES = { r2: "risk R2", worst_dr: "worst disclosure risk 1/H of a sensitive cell", determined: "share of sensitive cells that can be worked out" };
const SHORT = { r2: "R2", worst_dr: "disclosure risk", determined: "worked out" };

// `axis` is the measure upwards; `limit` what the policy allows of it. Infinite points are drawn on a line above it.
export function riskMap(points, { axis = "r2", limit = null, frontier = [], chosen = null, onChoose }) {
  // On a narrow screen the map is drawn smaller, not shrunk: its words stay readable.
  const [width, height] = window.innerWidth < 860 ? [430, 400] : [860, 480];
  const value = (p, name) => (p[name] ? p[name].mean : null);
  const endless = (p) => axis === "worst_dr" && p[axis] && p[axis].mean === null;
  const drawn = points.filter((p) => (value(p, axis) !== null || endless(p)) && value(p, "utility") !== null);
  const finite = drawn.filter((p) => !endless(p)).map((p) => value(p, axis));
  const across = scale(drawn.map((p) => value(p, "utility")), width > 500 ? 6 : 4, 1);
  // The limit is on the map unless the points would be squeezed into a corner by it.
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const room = 2 * Math.max(high - low, 0.1);
  const near = limit !== null && (!finite.length || (limit <= high + room && limit >= low - room));
  const up = scale(near ? [...finite, limit] : finite, 5, axis === "worst_dr" ? Infinity : 1);
  // What is without bound stands on a line of its own, above the axis.
  const roof = drawn.some(endless) ? TOP + 40 : TOP;
  const frame = { x: (u) => LEFT + ((u - across.low) / (across.high - across.low)) * (width - LEFT - RIGHT), y: (r) => height - BOTTOM - ((r - up.low) / (up.high - up.low)) * (height - roof - BOTTOM), width, height, roof };
  const at = (p) => [frame.x(value(p, "utility")), endless(p) ? TOP : frame.y(value(p, axis))];
  const parts = [...axes(frame, across, up, axis), ...(limit === null ? [] : limitLine(frame, up, limit, near))];
  const path = frontier.map((i) => points[i]).filter((p) => drawn.includes(p) && !endless(p)).map((p) => at(p).join(",")).join(" ");
  if (path) parts.push(el("svg:polyline", { class: "frontier", points: path }));
  const hover = el("svg:g", { class: "hover", "aria-hidden": "true" });
  const names = labels(drawn, at, frame);
  for (const p of drawn) parts.push(dot(p, at(p), { frame, axis, hover, endless: endless(p), chosen: title(p) === chosen, onChoose }));
  parts.push(...names, hover);
  return el("svg:svg", { class: "map", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Risk against utility; the same figures are in the table below" }, parts);
}

// Ends and steps of an axis: the points fill it, and its steps are round.
export function scale(values, steps, most) {
  const low = values.length ? Math.min(...values) : 0, high = values.length ? Math.max(...values) : 1;
  const room = Math.max(high - low, Math.abs(high) * 0.05, 0.01);
  const raw = (room * 1.12) / steps;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw) * power;
  const from = Math.max(0, Math.floor((low - 0.04 * room) / step) * step);
  const to = Math.min(Math.ceil((high + 0.04 * room) / step) * step, Math.max(most, high));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (Math.abs(step / power - 2.5) < 1e-9 ? 1 : 0));
  const count = Math.floor((to - from) / step + 1e-9);
  return { low: from, high: Math.max(to, from + step), ticks: Array.from({ length: count + 1 }, (_, i) => from + i * step), digits };
}

function axes({ x, y, width, height, roof }, across, up, axis) {
  const found = roof > TOP ? [el("svg:line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: TOP, y2: TOP }), el("svg:text", { class: "tick", x: LEFT - 8, y: TOP + 5, "text-anchor": "end" }, "∞")] : [];
  for (const u of across.ticks) found.push(el("svg:line", { class: "rule", x1: x(u), x2: x(u), y1: TOP, y2: height - BOTTOM }), el("svg:text", { class: "tick", x: x(u), y: height - BOTTOM + 18, "text-anchor": "middle" }, u.toFixed(across.digits)));
  for (const r of up.ticks) found.push(el("svg:line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(r), y2: y(r) }), el("svg:text", { class: "tick", x: LEFT - 8, y: y(r) + 4, "text-anchor": "end" }, r.toFixed(up.digits)));
  return [...found, el("svg:text", { class: "axis", x: (LEFT + width - RIGHT) / 2, y: height - 10, "text-anchor": "middle" }, "utility: keeps more →"),
    el("svg:text", { class: "axis", x: 18, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 18 ${height / 2})` }, `${AXES[axis]} ↑`)];
}

function limitLine({ y, width }, up, limit, near) {
  if (!near) {
    const above = limit > up.high;
    const edge = above ? TOP : y(up.low);
    return [el("svg:line", { class: "limit", "data-limit": limit, x1: LEFT, x2: width - RIGHT, y1: edge, y2: edge }),
      el("svg:text", { class: "limit-name", x: width - RIGHT - 6, y: above ? TOP - 12 : edge - 6, "text-anchor": "end" }, `limit of the policy: ${limit}, ${above ? "above this map ↑" : "below this map ↓"}`)];
  }
  const height = y(limit);
  return [height > TOP ? el("svg:rect", { class: "beyond", x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP }) : null,
    el("svg:line", { class: "limit", "data-limit": limit, x1: LEFT, x2: width - RIGHT, y1: height, y2: height }),
    el("svg:text", { class: "limit-name", x: width - RIGHT - 6, y: height - TOP > 20 ? height - 6 : TOP - 12, "text-anchor": "end" }, `limit of the policy: ${limit}`)].filter(Boolean);
}

// A point: a circle if it meets the policy, a cross if it fails, a ring around the recommended one.
function dot(p, [px, py], { frame, axis, hover, endless, chosen, onChoose }) {
  const name = title(p);
  const told = `${SHORT[axis]} ${endless ? "∞" : p[axis].mean.toFixed(4)}, utility ${p.utility.mean.toFixed(3)}`;
  const policy = p.meets === undefined ? "" : p.meets ? "meets the policy" : "fails the policy";
  const words = [`${name}: ${told}`, policy, p.recommended && "recommended"].filter(Boolean).join(", ");
  const choose = () => onChoose && onChoose(p);
  const mark = p.meets === false ? el("svg:path", { d: `M${px - 6},${py - 6}L${px + 6},${py + 6}M${px - 6},${py + 6}L${px + 6},${py - 6}` }) : el("svg:circle", { cx: px, cy: py, r: 6 });
  const show = () => label(hover, [px, py], [name, [told, policy].filter(Boolean).join(", ")], frame);
  const hide = () => hover.replaceChildren();
  return el("svg:g", { class: `point ${p.meets === false ? "fails" : "meets"}${p.efficient ? " efficient" : ""}`, tabindex: onChoose ? 0 : null, role: onChoose ? "button" : "img", "aria-label": words, "data-point": name, on: { click: choose, keydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(); } }, mouseenter: show, mouseleave: hide, focus: show, blur: hide } },
    el("svg:circle", { class: "target", cx: px, cy: py, r: 13 }), chosen || p.recommended ? el("svg:circle", { class: "ring", cx: px, cy: py, r: 11 }) : null, mark);
}

// What a point is, in a box beside it that stays on the map.
function label(node, [px, py], lines, { width }) {
  const wide = Math.max(...lines.map((line) => line.length)) * 6.7 + 16;
  const left = Math.min(Math.max(px - wide / 2, 4), width - wide - 4);
  const top = py - 58 > 4 ? py - 58 : py + 18;
  node.replaceChildren(el("svg:rect", { x: left, y: top, width: wide, height: 42, rx: 5 }), el("svg:text", { class: "first", x: left + 8, y: top + 17 }, lines[0]), el("svg:text", { x: left + 8, y: top + 34 }, lines[1]));
}

// Names of the points, those that matter first, each only where it covers neither a name nor a point.
function labels(points, at, { width, height }) {
  const boxes = [];
  const found = [];
  const weight = (p) => (p.recommended ? 0 : p.method === "none" ? 1 : p.efficient ? 2 : 3);
  for (const p of [...points].sort((a, b) => weight(a) - weight(b))) {
    const [px, py] = at(p);
    const text = p.recommended ? `${title(p)} (take this)` : title(p);
    const wide = text.length * 6.6;
    for (const [dx, dy, anchor] of [[14, 4, "start"], [-14, 4, "end"], [0, -15, "middle"], [0, 24, "middle"]]) {
      const left = anchor === "start" ? px + dx : anchor === "end" ? px + dx - wide : px - wide / 2;
      const box = [left, py + dy - 12, left + wide, py + dy + 4];
      const free = box[0] > LEFT && box[2] < width - 4 && box[1] > TOP - 14 && box[3] < height - BOTTOM && boxes.every((b) => box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]) && points.every((q) => { const [qx, qy] = at(q); return q === p || qx < box[0] - 7 || qx > box[2] + 7 || qy < box[1] - 7 || qy > box[3] + 7; });
      if (!free) continue;
      boxes.push(box);
      found.push(el("svg:text", { class: "name", x: px + dx, y: py + dy, "text-anchor": anchor }, text));
      break;
    }
  }
  return found;
}

export const title = (p) => p.title || [p.method, ...Object.entries(p.parameters || {}).map(([k, v]) => `${k} ${v}`)].join(" ");
