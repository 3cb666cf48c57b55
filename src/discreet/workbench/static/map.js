// The risk–utility map: a point per protection, the efficient frontier, and the policy's limit.

import { el } from "./dom.js";

const LEFT = 80, RIGHT = 24, TOP = 30, BOTTOM = 48;
let WIDTH = 860, HEIGHT = 470;
export const AXES = { r2: "risk R2: lower is safer", worst_dr: "worst disclosure risk 1/H of a sensitive cell", determined: "share of sensitive cells that can be worked out" };

// `axis` is the measure upwards; `limit` what the policy allows of it. Infinite points are drawn on the upper edge.
export function riskMap(points, { axis = "r2", limit = null, frontier = [], chosen = null, onChoose }) {
  // On a narrow screen the map is drawn smaller, not shrunk: its words stay readable.
  [WIDTH, HEIGHT] = window.innerWidth < 860 ? [430, 400] : [860, 470];
  const value = (p, name) => (p[name] ? p[name].mean : null);
  const endless = (p) => axis === "worst_dr" && p[axis] && p[axis].mean === null;
  const drawn = points.filter((p) => (value(p, axis) !== null || endless(p)) && value(p, "utility") !== null);
  const finite = drawn.filter((p) => !endless(p)).map((p) => value(p, axis));
  const [floor, ceiling] = range(drawn.map((p) => value(p, "utility")).concat(1));
  const near = limit !== null && (axis !== "r2" || finite.some((r) => r > 0.4 * limit)) ? [limit] : [];
  const [lowest, most] = range(finite.concat(near, finite.length || near.length ? [] : [0]));
  const x = (u) => LEFT + ((u - floor) / (ceiling - floor)) * (WIDTH - LEFT - RIGHT);
  const y = (r) => HEIGHT - BOTTOM - ((r - lowest) / (most - lowest)) * (HEIGHT - TOP - BOTTOM);
  const at = (p) => [x(value(p, "utility")), endless(p) ? TOP : y(value(p, axis))];
  const ticks = (low, high, n) => Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / n);
  const parts = [];
  for (const u of ticks(floor, ceiling, WIDTH > 500 ? 5 : 3)) parts.push(el("svg:line", { class: "axis", x1: x(u), x2: x(u), y1: TOP, y2: HEIGHT - BOTTOM }), el("svg:text", { x: x(u), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, u.toFixed(3)));
  for (const r of ticks(lowest, most, 5)) parts.push(el("svg:line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(r), y2: y(r) }), el("svg:text", { x: LEFT - 8, y: y(r) + 4, "text-anchor": "end" }, r.toFixed(3)));
  parts.push(el("svg:text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, "utility: 1 keeps everything →"),
    el("svg:text", { x: 16, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${HEIGHT / 2})` }, AXES[axis]));
  if (limit !== null) {
    const inside = limit <= most && limit >= lowest;
    const height = inside ? y(limit) : TOP;
    if (inside) parts.push(el("svg:rect", { class: "beyond", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: height - TOP }));
    parts.push(el("svg:line", { class: "limit", "data-limit": limit, x1: LEFT, x2: WIDTH - RIGHT, y1: height, y2: height }), el("svg:text", { class: "limit-name", x: LEFT + 6, y: inside && height - TOP > 20 ? height - 6 : TOP - 8 }, `limit of the policy: ${limit}${inside ? "" : ", above this map ↑"}`));
  }
  const path = frontier.map((i) => points[i]).filter((p) => drawn.includes(p) && !endless(p)).map((p) => at(p).join(",")).join(" ");
  if (path) parts.push(el("svg:polyline", { class: "frontier", points: path }));
  for (const p of drawn) {
    const name = title(p);
    const classes = ["point", p.efficient ? "efficient" : "", p.meets === false ? "fails" : "", name === chosen ? "chosen" : ""].filter(Boolean).join(" ");
    const words = `${name}: ${axis === "r2" ? "R2" : axis === "worst_dr" ? "disclosure risk" : "known"} ${endless(p) ? "∞" : value(p, axis).toFixed(4)}, utility ${value(p, "utility").toFixed(3)}${p.meets === undefined ? "" : p.meets ? ", meets the policy" : ", fails the policy"}${p.recommended ? ", recommended" : ""}`;
    const choose = () => onChoose && onChoose(p);
    const [px, py] = at(p);
    const shape = p.meets === false ? el("svg:rect", { class: classes, x: px - 6, y: py - 6, width: 12, height: 12 }) : el("svg:circle", { class: classes, cx: px, cy: py, r: 7 });
    parts.push(el("svg:g", { tabindex: onChoose ? 0 : null, role: onChoose ? "button" : "img", "aria-label": words, "data-point": name, on: { click: choose, keydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(); } } } }, el("svg:title", {}, words), shape));
  }
  parts.push(...labels(drawn, at));
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
  const order = points.filter((p) => p.recommended || p.efficient || p.method === "none" || points.length < 9).sort((a, b) => Number(b.recommended || false) - Number(a.recommended || false));
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
