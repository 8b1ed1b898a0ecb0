// How games come to a position: the moves that lead to it, drawn from the place where they part.

import { draw, grouped, make, percent } from "./dom.js";

const COLUMN = 92, ROW = 54, MARGIN = 30, THICKEST = 22, RADIUS = 7;
/** Columns that are drawn at most, counted from the position. */
const COLUMNS = 9;

/** The plies that are worth a picture: up to the last one at which all games still come by one way. */
function depth(ways) {
  const width = new Map();
  for (const stop of ways.stops) width.set(stop.plies, (width.get(stop.plies) ?? 0) + 1);
  const parted = [...width].filter(([, count]) => count > 1).map(([plies]) => plies);
  return parted.length === 0 ? 0 : Math.min(Math.max(...parted) + 1, COLUMNS);
}

/** Places for the stops: a column for each ply, the position itself on the right. */
function places(ways, plies) {
  const columns = Array.from({ length: plies + 1 }, () => []);
  ways.stops.forEach((stop, number) => { if (stop.plies <= plies) columns[stop.plies].push(number); });
  while (columns.length > 1 && columns.at(-1).length === 0) columns.pop();
  const tallest = Math.max(...columns.map(column => column.length));
  const at = new Map();
  columns.forEach((column, back) => {
    // Beside what they lead to, so that few lines cross.
    const goal = number => {
      const steps = ways.steps.filter(step => step.from === number && at.has(step.to));
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

function picture(ways, plies) {
  const { at, width, height } = places(ways, plies);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The orders of moves, drawn; they follow as a list" });
  const texts = [];
  for (const step of ways.steps.filter(step => at.has(step.from) && at.has(step.to))) {
    const [from, to] = [at.get(step.from), at.get(step.to)];
    const middle = (from.x + to.x) / 2;
    const d = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
    const title = draw("title", {}, `${step.san}: played in ${grouped(step.played.games)} games, ${percent(step.share)} of those that come here`);
    svg.append(draw("path", { class: "flow", d, "stroke-width": Math.max(1.5, THICKEST * step.share).toFixed(1) }, title));
    texts.push(draw("text", { x: middle, y: (from.y + to.y) / 2 + 4, "text-anchor": "middle" }, step.san));
  }
  for (const [number, { x, y }] of at) {
    const stop = ways.stops[number];
    svg.append(draw("circle", { class: stop.plies === 0 ? "here" : "stop", cx: x, cy: y, r: RADIUS }, draw("title", {}, stop.opening ? `${stop.opening.eco} ${stop.opening.name}` : stop.fen)));
    if (stop.share < 0.995) texts.push(draw("text", { class: "soft", x, y: y + RADIUS + 13, "text-anchor": "middle" }, percent(stop.share)));
  }
  svg.append(...texts);
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Picture of the orders of moves" }, svg);
}

/** Moves with their numbers. */
export function numbered(moves, fen) {
  const fields = fen.split(" ");
  let ply = 2 * (Number(fields[5] ?? 1) - 1) + (fields[1] === "b" ? 1 : 0);
  return moves.map((move, index) => {
    const number = ply % 2 === 0 ? `${ply / 2 + 1}.` : index === 0 ? `${(ply - 1) / 2 + 1}…` : "";
    ply++;
    return number + move.san;
  }).join(" ");
}

/** Shows the ways; `go` is told an order of moves that was chosen. */
export function showWays(root, ways, start, go) {
  if (ways.fen === start) {
    root.replaceChildren(make("p", { class: "note" }, "Here every game begins."));
    return;
  }
  if (ways.orders.length === 0) {
    root.replaceChildren(make("p", { class: "note" }, "No game of the book has come here."));
    return;
  }
  const plies = depth(ways);
  const orders = ways.orders.map(order => make("li", {},
    make("span", {}, percent(order.share)),
    make("button", { type: "button", onclick: () => go(order) }, numbered(order.moves, order.fen))));
  const told = plies === 0
    ? [make("p", { class: "note" }, "All games, but for a few, come here by the same order of moves.")]
    : [picture(ways, plies), make("p", { class: "note" }, "The last moves are counted; further back, shares are worked out from the counts of each position.")];
  const [drawing] = told;
  root.replaceChildren(...told, make("h3", {}, "The usual orders of moves"), make("ol", {}, ...orders));
  // The last moves matter most.
  drawing.scrollLeft = drawing.scrollWidth;
}
