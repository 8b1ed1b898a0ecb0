// A game with variations that can be changed.

import { nested, numberOf, pathOf, plyOf } from "./variations.js";

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** The first tags of a game in their standard order. The result follows them. */
const ROSTER = ["Event", "Site", "Date", "Round", "White", "Black"];

const quoted = text => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');

/** Returns a comment in braces as a list, empty if there is none. Parentheses replace braces in the text. */
const braced = text => text ? [`{${text.replaceAll("{", "(").replaceAll("}", ")").replace(/\s+/g, " ").trim()}}`] : [];

/** Writes a line to `words`. `others` are the alternatives to its first move. */
function write(node, others, ply, words) {
  for (let isFirst = true; node; ply++) {
    const number = numberOf(ply, isFirst).replace("…", "...");
    words.push(...braced(node.before), ...(number ? [number] : []), node.san, ...node.nags.map(nag => `$${nag}`), ...braced(node.comment));
    for (const other of others) {
      const inner = [];
      write(other, [], ply, inner);
      words.push(`(${inner.join(" ")})`);
    }
    isFirst = node.comment !== "" || others.length > 0;
    [node, ...others] = node.children;
  }
}

export class GameTree {
  #end;

  /** Creates the tree of a game in the server's format. If a part cannot be read, keeps the text as `source`. */
  constructor({ tags, fen, result, fault, comment, tree }, source = null) {
    Object.assign(this, { tags, fen, result, fault, comment, root: nested(tree), source: fault ? source : null });
    this.#end = this.through([]).at(-1) ?? this.root;
  }

  /** Creates a game without tags from moves with `uci` and `san`. */
  static ofLine(fen, line) {
    const game = new GameTree({ tags: [], fen, result: "*", fault: null, comment: "", tree: [] });
    game.add(line);
    return game;
  }

  /** Whether the game contains more than a list of moves, such as comments or variations. */
  get isAnnotated() {
    const isPlain = ({ children, nags, before, comment }) => children.length < 2 && !nags?.length && !before && !comment;
    let node = this.root;
    while (isPlain(node) && node.children.length > 0) [node] = node.children;
    return !isPlain(node) || this.comment !== "";
  }

  /** The comment after a node's move; for the root, the comment before the first move. */
  commentOf(node) { return node === this.root ? this.comment : node.comment; }

  setComment(node, text) { (node === this.root ? this : node).comment = text; }

  /** Prepares a change: makes the text that could not be read a comment at the end of the game. */
  keepUnread() {
    if (!this.source) return;
    const movetext = this.source.replace(/^\s*(\[[^\n]*\]\s*)*/, "").trim();
    const [, word] = /illegal move (\S+)/.exec(this.fault) ?? [];
    const parts = word ? movetext.split(word) : [];
    // If the word occurs several times, its place is unknown.
    const rest = parts.length === 2 ? word + parts[1] : movetext;
    this.setComment(this.#end, [this.commentOf(this.#end), `Not read: ${rest}`].filter(Boolean).join(" "));
    [this.source, this.fault] = [null, null];
  }

  /** Returns the node after these moves; `undefined` if they are not in the tree. */
  find(moves) {
    return moves.reduce((node, uci) => node?.children.find(child => child.uci === uci), this.root);
  }

  /** Returns the nodes of these moves and of the first line after them. */
  through(moves) {
    let node = this.find(moves);
    while (node.children.length > 0) [node] = node.children;
    return pathOf(node);
  }

  /** Adds a line of moves with `uci` and `san`. Returns whether any of them is new. */
  add(line) {
    let [node, isNew] = [this.root, false];
    for (const { uci, san } of line) {
      let next = node.children.find(child => child.uci === uci);
      if (!next) {
        next = { uci, san, nags: [], before: "", comment: "", parent: node, children: [] };
        node.children.push(next);
        isNew = true;
      }
      node = next;
    }
    return isNew;
  }

  /** Returns the first move of the variation that contains a node; `null` in the main line. */
  variationOf(node) {
    return pathOf(node).findLast(move => move.parent.children[0] !== move) ?? null;
  }

  /** Swaps the variation that contains a node with the previous one, which may be the main line. */
  promote(node) {
    const first = this.variationOf(node);
    if (!first) return;
    const { children } = first.parent;
    const at = children.indexOf(first);
    [children[at - 1], children[at]] = [first, children[at - 1]];
  }

  /** Makes the line to a node the main line. */
  makeMain(node) {
    for (const move of pathOf(node)) {
      const { children } = move.parent;
      move.parent.children = [move, ...children.filter(child => child !== move)];
    }
  }

  /** Removes a move and the moves after it. */
  remove(node) {
    node.parent.children = node.parent.children.filter(child => child !== node);
  }

  /** Returns the game as PGN: the source as it was, or the moves that could be read. */
  pgn() {
    if (this.source) return this.source;
    const first = ROSTER.flatMap(name => this.tags.filter(([other]) => other === name));
    const others = this.tags.filter(([name]) => ![...ROSTER, "Result", "FEN", "SetUp"].includes(name));
    const tags = [...first, ["Result", this.result], ...others];
    if (this.fen !== START) tags.push(["SetUp", "1"], ["FEN", this.fen]);
    const words = braced(this.comment);
    const [move, ...alternatives] = this.root.children;
    write(move, alternatives, plyOf(this.fen), words);
    return `${tags.map(([name, value]) => `[${name} "${quoted(value)}"]`).join("\n")}\n\n${[...words, this.result].join(" ")}\n`;
  }
}
