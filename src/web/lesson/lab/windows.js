// Shows the windows of the nodes from the root to the current node on a number line.

import { draw } from "./dom.js";
import { written } from "./picture.js";

/** Sizes of the picture in pixels. The ends of the line stand for infinity. */
const LINE = { narrowest: 300, widest: 640, left: 56, right: 14, top: 22, row: 20, end: 22 };
/** Maximum number of nodes shown, counted from the end of the path. */
const DEEPEST = 8;
const LINE_NUMBERS = 8;

/** Returns the current windows of the nodes that are open after `step` steps. */
export function openWindows(record, step) {
  const open = [];
  for (const { node, visit, kind, value } of record.steps.slice(0, step)) {
    if (open.at(-1)?.left) open.pop();
    if (kind === "iteration") { open.length = 0; continue; }
    const { name, max, visits } = record.tree[node], rendered = visits[visit];
    if (kind === "enter" || kind === "leaf") open.push({ name, alpha: rendered.alpha, beta: rendered.beta, null: rendered.null, found: null, left: false });
    const own = open.at(-1);
    if (kind === "raise") own[max ? "alpha" : "beta"] = value;
    if (kind === "leaf" || kind === "leave" || kind === "hit") [own.left, own.found] = [true, rendered.value];
  }
  return open;
}

/** Returns the range of leaf values and window bounds, extended by one at each end. */
function extent(record) {
  const visits = record.tree.flatMap(node => node.visits);
  const values = visits.flatMap(({ leaf, value, alpha, beta }) => [leaf ? value : null, alpha, beta]).filter(value => value !== null);
  return values.length > 0 ? [Math.min(...values) - 1, Math.max(...values) + 1] : [-1, 1];
}

/** Returns the picture, at most `room` pixels wide, or `null` if the search has no windows. */
export function windowsPicture(record, step, room) {
  const width = Math.max(LINE.narrowest, Math.min(LINE.widest, room)), right = width - LINE.right;
  if (!record.windows) return null;
  const rows = openWindows(record, step).slice(-DEEPEST), [low, high] = extent(record);
  const deepest = Math.min(DEEPEST, Math.max(...record.tree.map(node => node.ply)) + 1);
  const height = LINE.top + LINE.row * deepest + 6, from = LINE.left + LINE.end, to = right - LINE.end;
  const x = (value, infinite) => value === null ? infinite : from + (to - from) * (Math.max(low, Math.min(high, value)) - low) / (high - low);
  const words = rows.map(({ name, alpha, beta }) => `${name} from ${alpha ?? "minus infinity"} to ${beta ?? "infinity"}`).join(", ");
  const svg = draw("svg", { class: "windows", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": rows.length > 0 ? `Windows: ${words}` : "No open windows" });
  svg.append(...numbers([low, high], [x, right], height));
  rows.forEach((row, index) => svg.append(...bar(row, LINE.top + LINE.row * index + LINE.row / 2, x, right)));
  return svg;
}

function numbers([low, high], [x, right], height) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find(step => (high - low) / step <= LINE_NUMBERS) ?? 20000;
  const marks = [[LINE.left, "−∞"], [right, "+∞"]];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) marks.push([x(value), written(String(value))]);
  return marks.flatMap(([at, text]) => [
    draw("line", { class: "grid", x1: at, x2: at, y1: LINE.top - 4, y2: height }),
    draw("text", { class: "small", x: at, y: LINE.top - 8 }, text),
  ]);
}

function bar({ name, alpha, beta, null: isNull, found, left }, y, x, right) {
  const [begin, end] = [x(alpha, LINE.left), x(beta, right)];
  const parts = [
    draw("text", { class: "row", x: LINE.left - 12, y: y + 4 }, name),
    draw("rect", { class: `span${isNull ? " null" : ""}${left ? " left" : ""}${begin > end ? " crossed" : ""}`, x: Math.min(begin, end), y: y - 5, width: Math.max(2, Math.abs(end - begin)), height: 10, rx: 2 }),
  ];
  for (const [bound, at] of [[alpha, begin], [beta, end]]) if (bound !== null) parts.push(draw("line", { class: "bound", x1: at, x2: at, y1: y - 8, y2: y + 8 }));
  if (found !== null) parts.push(draw("circle", { class: "found", cx: x(found), cy: y, r: 5 }));
  return parts;
}
