// Creates random trees and reorders their moves. A seed gives the same tree as in the Rust code.

import { Random, inverted } from "./random.js";
import { GameTree } from "./tree.js";

/** In an uneven tree, one in this many possible inner nodes is a leaf instead. */
const EARLY_LEAF = 6;
/** Nodes above this level are never copies, because there are too few nodes to copy. */
const FIRST_COPIED = 2;
const HUNDRED = 100;

export const SMALL = { seed: 1n, depth: 3, branching: 2, spread: 20, uneven: false, copies: 0, maxBegins: true, order: 0 };

export function grow(growth) {
  const random = new Random(growth.seed);
  const grown = Array.from({ length: growth.depth + 1 }, () => []);
  const shape = growShape(growth, random, grown, 0);
  const tree = new GameTree();
  tree.maxBegins = growth.maxBegins;
  const names = namesOf(shape);
  const push = (node, parent) => {
    const id = tree.push(names.get(node.at), parent, node.value);
    for (const child of node.children) push(child, id);
  };
  push(shape, null);
  return ordered(tree, growth.order, growth.seed);
}

function growShape(growth, random, grown, level) {
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
  for (let child = 0; child < count; child++) children.push(growShape(growth, random, grown, level + 1));
  const shape = { value: null, children };
  grown[level].push(shape);
  return shape;
}

/** Numbers the nodes in text order, and returns their names. Names count level by level, from left to right. */
function namesOf(root) {
  const levels = [];
  let place = 0;
  const walk = (shape, level) => {
    shape.at = place++;
    (levels[level] ??= []).push(shape.at);
    for (const child of shape.children) walk(child, level + 1);
  };
  walk(root, 0);
  return new Map(levels.flat().map((at, number) => [at, `N${number}`]));
}

/**
 * Returns the tree with its moves reordered. `order` ranges from 100 (best move first everywhere) to -100
 * (worst move first everywhere); 0 leaves the tree unchanged. For other values, the next move is the best (or
 * worst) of the remaining moves with this probability in percent; otherwise, it is the first of them.
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
