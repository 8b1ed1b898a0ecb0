// Random trees, the same ones from the same seed as in the program, and orders of their moves.

import { Random, inverted } from "./random.js";
import { GameTree } from "./tree.js";

/** Of so many nodes that could have children one has none, in an uneven tree. */
const EARLY_LEAF = 6;
/** No node above this level is a copy of another. */
const FIRST_COPIED = 2;
const HUNDRED = 100;

/** How a tree grows: a seed, levels below the root, children of a node, how large values get, and so on. */
export const SMALL = { seed: 1n, depth: 3, branching: 2, spread: 20, uneven: false, copies: 0, maxBegins: true, order: 0 };

/** Grows a tree. */
export function grow(growth) {
  const random = new Random(growth.seed);
  const grown = Array.from({ length: growth.depth + 1 }, () => []);
  const sketch = growSketch(growth, random, grown, 0);
  const tree = new GameTree();
  tree.maxBegins = growth.maxBegins;
  const names = namesOf(sketch);
  const push = (node, parent) => {
    const id = tree.push(names.get(node.at), parent, node.value);
    for (const child of node.children) push(child, id);
  };
  push(sketch, null);
  return ordered(tree, growth.order, growth.seed);
}

function growSketch(growth, random, grown, level) {
  const { depth, branching, spread, uneven, copies } = growth;
  if (level === depth || (uneven && level > 0 && random.below(EARLY_LEAF) === 0)) {
    return { value: random.below(2 * spread + 1) - spread, children: [] };
  }
  const known = grown[level].length;
  if (copies > 0 && level >= FIRST_COPIED && known > 0 && random.below(HUNDRED) < copies) {
    return structuredClone(grown[level][random.below(known)]);
  }
  const count = uneven ? 1 + random.below(branching) : branching;
  const children = [];
  for (let child = 0; child < count; child++) children.push(growSketch(growth, random, grown, level + 1));
  const sketch = { value: null, children };
  grown[level].push(sketch);
  return sketch;
}

/** Marks each node by its place in the text; the names by place, level by level from left to right. */
function namesOf(root) {
  const levels = [];
  let place = 0;
  const walk = (sketch, level) => {
    sketch.at = place++;
    (levels[level] ??= []).push(sketch.at);
    for (const child of sketch.children) walk(child, level + 1);
  };
  walk(root, 0);
  return new Map(levels.flat().map((at, number) => [at, `N${number}`]));
}

/**
 * The tree with its moves in another order, from 100, the best first everywhere, over 0, as they are,
 * to -100, the worst first. In between each place is taken with so many percent by the best (worst) of
 * the moves that are left, else by the first of them.
 */
export function ordered(tree, order, seed) {
  const values = tree.minimax(), random = new Random(inverted(seed)), percent = Math.abs(order);
  const orders = tree.nodes.map(({ children }, id) => {
    const good = child => tree.isMax(id) === (order > 0) ? values[child] : -values[child];
    const left = [...children], chosen = [];
    while (left.length > 0) {
      let take = 0;
      if (random.below(HUNDRED) < percent) left.forEach((child, at) => { if (good(child) > good(left[take])) take = at; });
      chosen.push(...left.splice(take, 1));
    }
    return chosen;
  });
  return tree.rebuilt(id => orders[id]);
}
