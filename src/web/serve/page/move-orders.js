// The move orders that lead to a position, drawn from the point where they diverge.

import { draw, grouped, make, percent } from "./dom.js";
import { numbered } from "./variations.js";

const COLUMN = 92, ROW = 54, MARGIN = 30, THICKEST = 22, RADIUS = 7;
/** The maximum number of plies to draw, counted back from the position. */
const COLUMNS = 9;

/** Returns the number of plies to draw, back to the position where the move orders diverge. */
function depth(found) {
  const width = new Map();
  for (const stop of found.positions) width.set(stop.plies, (width.get(stop.plies) ?? 0) + 1);
  const parted = [...width].filter(([, count]) => count > 1).map(([plies]) => plies);
  return parted.length === 0 ? 0 : Math.min(Math.max(...parted) + 1, COLUMNS);
}

/** Lays out the positions: one column for each ply, with the requested position on the right. */
function places(found, plies) {
  const columns = Array.from({ length: plies + 1 }, () => []);
  found.positions.forEach((stop, number) => { if (stop.plies <= plies) columns[stop.plies].push(number); });
  while (columns.length > 1 && columns.at(-1).length === 0) columns.pop();
  const tallest = Math.max(...columns.map(column => column.length));
  const at = new Map();
  columns.forEach((column, back) => {
    // Place positions next to their successors, so that few lines cross.
    const goal = number => {
      const steps = found.moves.filter(step => step.from === number && at.has(step.to));
      const weight = steps.reduce((sum, step) => sum + step.share, 0) || 1;
      return steps.reduce((sum, step) => sum + at.get(step.to).y * step.share, 0) / weight;
    };
    if (back > 0) column.sort((one, other) => goal(one) - goal(other));
    column.forEach((number, row) => at.set(number, {
      x: MARGIN + (columns.length - 1 - back) * COLUMN,
      y: MARGIN / 2 + ROW * (row + (tallest - column.length) / 2) + ROW / 2,
    }));
  });
  return { at, width: 2 * MARGIN + (columns.length - 1) * COLUMN, height: MARGIN + tallest * ROW };
}

function picture(found, plies) {
  const { at, width, height } = places(found, plies);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Diagram of the move orders; a list follows" });
  const texts = [];
  for (const step of found.moves.filter(step => at.has(step.from) && at.has(step.to))) {
    const [from, to] = [at.get(step.from), at.get(step.to)];
    const middle = (from.x + to.x) / 2;
    const d = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
    const title = draw("title", {}, `${step.san}: played in ${grouped(step.played.games)} games, ${percent(step.share)} of those that reach this position`);
    svg.append(draw("path", { class: "flow", d, "stroke-width": Math.max(1.5, THICKEST * step.share).toFixed(1) }, title));
    texts.push(draw("text", { x: middle, y: (from.y + to.y) / 2 + 4, "text-anchor": "middle" }, step.san));
  }
  for (const [number, { x, y }] of at) {
    const stop = found.positions[number];
    svg.append(draw("circle", { class: stop.plies === 0 ? "here" : "stop", cx: x, cy: y, r: RADIUS }, draw("title", {}, stop.opening ? `${stop.opening.eco} ${stop.opening.name}` : stop.fen)));
    if (stop.share < 0.995) texts.push(draw("text", { class: "soft", x, y: y + RADIUS + 13, "text-anchor": "middle" }, percent(stop.share)));
  }
  svg.append(...texts);
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Diagram of the move orders" }, svg);
}

/** Shows the move orders. Calls `go` with the one that the user selects. */
export function showMoveOrders(root, found, start, go) {
  if (found.fen === start) {
    root.replaceChildren(make("p", { class: "note" }, "Every game starts here."));
    return;
  }
  if (found.orders.length === 0) {
    root.replaceChildren(make("p", { class: "note" }, "No game in the book reaches this position."));
    return;
  }
  const plies = depth(found);
  const orders = found.orders.map(order => make("li", {},
    make("span", {}, percent(order.share)),
    make("button", { type: "button", onclick: () => go(order) }, numbered(order.moves, order.fen))));
  const parts = plies === 0
    ? [make("p", { class: "note" }, "Nearly all games reach this position by the same move order.")]
    : [picture(found, plies), make("p", { class: "note" }, "The shares of the last moves are exact. Earlier shares are estimates from the counts of each position.")];
  const [drawing] = parts;
  root.replaceChildren(...parts, make("h3", {}, "Most common move orders"), make("ol", {}, ...orders));
  // Show the last moves, which matter most.
  drawing.scrollLeft = drawing.scrollWidth;
}
