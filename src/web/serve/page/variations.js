// Trees of moves, and their display as nested lists.

import { make } from "./dom.js";
import { glyphs, hintFor } from "./notes.js";

/** Returns the number of plies before a position, counted from the start of its game. */
export function plyOf(fen) {
  const fields = fen.split(" ");
  return 2 * (Number(fields[5] ?? 1) - 1) + (fields[1] === "b" ? 1 : 0);
}

/** Returns the move number to write before a move: empty for Black's moves except the first in a line. */
export function numberOf(ply, isFirst) {
  if (ply % 2 === 0) return `${ply / 2 + 1}.`;
  return isFirst ? `${(ply + 1) / 2}…` : "";
}

/** Formats a line from a position with move numbers. */
export function numbered(line, fen) {
  return line.map((move, index) => numberOf(plyOf(fen) + index, index === 0) + move.san).join(" ");
}

/** Returns the root of a tree. Each of `rows` has the index of its parent. Equal moves of a parent are merged. */
export function nested(rows) {
  const [root, nodes] = [{ children: [] }, []];
  for (const row of rows) {
    const parent = row.parent === null ? root : nodes[row.parent];
    let node = parent.children.find(({ uci }) => uci === row.uci);
    if (node) {
      node.comment = [node.comment, row.before, row.comment].filter(Boolean).join(" ");
      node.nags = [...new Set([...node.nags, ...row.nags])];
    } else {
      node = { ...row, parent, children: [] };
      parent.children.push(node);
    }
    nodes.push(node);
  }
  return root;
}

/** Returns the nodes from the first move to a node. */
export function pathOf(node) {
  const path = [];
  for (; node.parent; node = node.parent) path.unshift(node);
  return path;
}

/** The commands in a comment. */
export const COMMANDS = /\[%[^\]]*\]/g;

/** Returns a comment without its commands, such as `[%clk 0:01:00]`. */
export const withoutCommands = comment => comment.replace(COMMANDS, "").trim().replace(/\s+/g, " ");

function note(comment) {
  const text = withoutCommands(comment ?? "");
  return text ? make("span", { class: "note" }, ` ${text} `) : "";
}

function entry(node, ply, isFirst, { pick, current }) {
  const button = make("button", { type: "button", class: node.own ? "own" : "", title: hintFor(glyphs(node.nags)), "aria-current": node === current ? "step" : null, onclick: () => pick(pathOf(node)) }, numberOf(ply, isFirst) + node.san + glyphs(node.nags));
  const later = node.transposes ? make("span", { class: "note", title: "the lines from this position are elsewhere in the tree" }, "⇄") : "";
  return [note(node.before), button, note(node.comment), later];
}

/** Returns a line as a list item. `others` are the alternatives to its first move. */
function item(node, others, ply, options) {
  const element = make("li");
  for (let isFirst = true; node; ply++) {
    element.append(...entry(node, ply, isFirst, options));
    if (others.length > 0) element.append(lists(others, ply, options));
    isFirst = Boolean(node.comment) || others.length > 0;
    const { children } = node;
    if (children.length > 1 && !options.hasMainLine) {
      element.append(lists(children, ply + 1, options));
      return element;
    }
    [node, ...others] = children;
  }
  return element;
}

const lists = (nodes, ply, options) => make("ul", {}, ...nodes.map(node => item(node, [], ply, options)));

/**
 * Returns the lines that begin with `nodes` as nested lists; `ply` is the number of plies before them.
 * `options` has `pick` (called with the nodes up to a selected move), `current` (the node on the board) and
 * `hasMainLine` (if true, the first of several moves continues its line, and the others follow it as lists).
 */
export function treeOf(nodes, ply, options) {
  if (!options.hasMainLine || nodes.length === 0) return lists(nodes, ply, options);
  const [first, ...others] = nodes;
  return make("ul", {}, item(first, others, ply, options));
}
