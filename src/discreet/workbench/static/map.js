// The risk–utility map: a point per protection, the efficient frontier, and the policy's limit.

import { el } from "./dom.js";

const WIDTH = 860, HEIGHT = 470, LEFT = 62, RIGHT = 24, TOP = 24, BOTTOM = 48;

export function riskMap(points, { limit = null, frontier = [], magnitudes = false, chosen = null, onChoose }) {
  const value = (p, name) => (p[name] ? p[name].mean : null);
  const axis = magnitudes ? "determined" : "r2";
  const drawn = points.filter((p) => value(p, axis) !== null && value(p, "utility") !== null);
  const [floor, ceiling] = range(drawn.map((p) => value(p, "utility")).concat(1));
  const near = limit !== null && drawn.some((p) => value(p, axis) > 0.6 * limit) ? [limit] : [];
  const [lowest, most] = range(drawn.map((p) => value(p, axis)).concat(near));
  const x = (u) => LEFT + ((u - floor) / (ceiling - floor)) * (WIDTH - LEFT - RIGHT);
  const y = (r) => HEIGHT - BOTTOM - ((r - lowest) / (most - lowest)) * (HEIGHT - TOP - BOTTOM);
  const ticks = (low, high, n) => Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / n);
  const parts = [];
  for (const u of ticks(floor, ceiling, 5)) parts.push(el("svg:line", { class: "axis", x1: x(u), x2: x(u), y1: TOP, y2: HEIGHT - BOTTOM }), el("svg:text", { x: x(u), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, u.toFixed(3)));
  for (const r of ticks(lowest, most, 5)) parts.push(el("svg:line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(r), y2: y(r) }), el("svg:text", { x: LEFT - 8, y: y(r) + 4, "text-anchor": "end" }, r.toFixed(3)));
  parts.push(el("svg:text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, "utility: 1 keeps everything →"),
    el("svg:text", { x: 16, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${HEIGHT / 2})` }, magnitudes ? "sensitive cells that can be worked out" : "risk R2: lower is safer"));
  if (limit !== null && limit <= most && limit >= lowest) parts.push(el("svg:line", { class: "limit", x1: LEFT, x2: WIDTH - RIGHT, y1: y(limit), y2: y(limit) }), el("svg:text", { x: WIDTH - RIGHT - 4, y: y(limit) - 6, "text-anchor": "end" }, "limit of the policy"));
  const path = frontier.map((i) => points[i]).filter((p) => drawn.includes(p)).map((p) => `${x(value(p, "utility"))},${y(value(p, axis))}`).join(" ");
  if (path) parts.push(el("svg:polyline", { class: "frontier", points: path }));
  for (const p of drawn) {
    const name = title(p);
    const classes = ["point", p.efficient ? "efficient" : "", p.meets === false ? "fails" : "", name === chosen ? "chosen" : ""].filter(Boolean).join(" ");
    const words = `${name}: ${magnitudes ? "known" : "R2"} ${value(p, axis).toFixed(4)}, utility ${value(p, "utility").toFixed(3)}, ${p.meets === false ? "fails the policy" : "meets the policy"}${p.recommended ? ", recommended" : ""}`;
    const choose = () => onChoose && onChoose(p);
    const at = [x(value(p, "utility")), y(value(p, axis))];
    const shape = p.meets === false ? el("svg:rect", { class: classes, x: at[0] - 6, y: at[1] - 6, width: 12, height: 12 }) : el("svg:circle", { class: classes, cx: at[0], cy: at[1], r: 7 });
    const group = el("svg:g", { tabindex: 0, role: "button", "aria-label": words, "data-point": name, on: { click: choose, keydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(); } } } }, el("svg:title", {}, words), shape);
    parts.push(group);
  }
  parts.push(...labels(drawn, (p) => [x(value(p, "utility")), y(value(p, axis))]));
  return el("svg:svg", { class: "map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Risk against utility; the same figures are in the table below" }, parts);
}

function range(values) {
  const low = Math.min(...values), high = Math.max(...values);
  const room = Math.max((high - low) * 0.08, 0.004);
  return [Math.max(0, low - room), high + room / 2];
}

// Names of the points that matter, the recommended one first, each only where it covers no other name.
function labels(points, at) {
  const boxes = [];
  const found = [];
  const order = points.filter((p) => p.recommended || p.efficient || p.method === "none").sort((a, b) => Number(b.recommended || false) - Number(a.recommended || false));
  for (const p of order) {
    const [px, py] = at(p);
    const text = p.recommended ? `${title(p)} (take this)` : title(p);
    const wide = text.length * 6.6;
    for (const [dx, dy, anchor] of [[12, 4, "start"], [-12, 4, "end"], [0, -14, "middle"], [0, 22, "middle"]]) {
      const left = anchor === "start" ? px + dx : anchor === "end" ? px + dx - wide : px - wide / 2;
      const box = [left, py + dy - 12, left + wide, py + dy + 4];
      const free = box[0] > LEFT && box[2] < WIDTH - 4 && box[1] > 4 && boxes.every((b) => box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]) && points.every((q) => { const [qx, qy] = at(q); return q === p || qx < box[0] - 7 || qx > box[2] + 7 || qy < box[1] - 7 || qy > box[3] + 7; });
      if (!free) continue;
      boxes.push(box);
      found.push(el("svg:text", { class: "name", x: px + dx, y: py + dy, "text-anchor": anchor }, text));
      break;
    }
  }
  return found;
}

export const title = (p) => p.title || [p.method, ...Object.entries(p.parameters || {}).map(([k, v]) => `${k} ${v}`)].join(" ");
