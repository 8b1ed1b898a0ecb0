// Minimax, alpha-beta and principal variation search as the textbooks have them, in negamax form, with a
// table or without: step for step as in the program.

/** Above every value. */
export const INFINITY = 32001;
export const FULL = { alpha: -INFINITY, beta: INFINITY };
/** Why a node gets its window: nothing better is known, a null window asks, or the answer to it was yes. */
const OPEN = "open";
const NULL = "null";
export const AGAIN = "again";

/** The window between two bounds as the opponent sees it. */
export const flipped = ({ alpha, beta }) => ({ alpha: -beta, beta: -alpha });
/** The window that asks whether a value is above alpha. */
export const nullAbove = alpha => ({ alpha, beta: alpha + 1 });
export const isNull = ({ alpha, beta }) => beta - alpha <= 1;

/** Hears of a search and does nothing. */
const NOBODY = { enter() {}, hit() {}, first() {}, raise() {}, cutoff() {}, leave() {} };

/** What a search remembers of positions: their values, or only the line to search first. */
export class Table {
  #entries = new Map(); #keepsValues;

  constructor(keepsValues) { this.#keepsValues = keepsValues; }

  /** Has a line searched first, as pairs of a position and the one that follows; a table of values knows it already. */
  expect(line) {
    if (this.#keepsValues) return;
    this.#entries = new Map(line.map(([key, best]) => [key, { depth: -1, value: 0, bound: "exact", best }]));
  }

  /** A value that settles a search to `depth` with this window. */
  value(key, depth, { alpha, beta }) {
    const entry = this.#entries.get(key);
    if (!entry || entry.depth < depth) return null;
    const settles = { exact: true, lower: entry.value >= beta, upper: entry.value <= alpha }[entry.bound];
    return settles ? entry.value : null;
  }

  /** The position after the best move known. */
  best(key) { return this.#entries.get(key)?.best ?? null; }

  store(key, depth, { alpha, beta }, value, best) {
    if (!this.#keepsValues) return;
    const bound = value >= beta ? "lower" : value <= alpha ? "upper" : "exact";
    this.#entries.set(key, { depth, value, bound, best: best ?? this.best(key) });
  }
}

/** One search. Windows and values are those of the side to move; a result is a value and the line to it. */
export class Search {
  nodes = 0;
  #game; #observer; #table;

  constructor(game, observer = NOBODY, table = null) {
    this.#game = game;
    this.#observer = observer;
    this.#table = table;
  }

  /** The value of a node that is `ply` plies from the root, searched to `depth` plies. */
  run(algorithm, node, ply, depth, window) {
    this.#observer.enter(ply, null, window, OPEN);
    switch (algorithm) {
      case "minimax": return this.#negamax(node, ply, depth);
      case "alpha-beta": return this.#alphaBeta(node, ply, depth, window);
      default: return this.#pvs(node, ply, depth, window);
    }
  }

  #negamax(node, ply, depth) {
    const moves = this.#expand(node, depth);
    if (!moves) return this.#leaf(node, ply);
    let best = -INFINITY, line = [];
    for (const move of moves) {
      this.#observer.enter(ply + 1, move, FULL, OPEN);
      const [below, rest] = this.#negamax(move, ply + 1, depth - 1);
      if (-below > best) {
        [best, line] = [-below, [move, ...rest]];
        this.#observer.raise(ply, move, best);
      }
    }
    this.#observer.leave(ply, best, line, false);
    return [best, line];
  }

  #alphaBeta(node, ply, depth, window) {
    return this.#moves(node, ply, depth, window, (move, open) => {
      this.#observer.enter(ply + 1, move, flipped(open), OPEN);
      const [below, rest] = this.#alphaBeta(move, ply + 1, depth - 1, flipped(open));
      return [-below, rest];
    });
  }

  #pvs(node, ply, depth, window) {
    return this.#moves(node, ply, depth, window, (move, open, isFirst) => {
      const child = (asked, why) => {
        this.#observer.enter(ply + 1, move, flipped(asked), why);
        const [below, rest] = this.#pvs(move, ply + 1, depth - 1, flipped(asked));
        return [-below, rest];
      };
      if (isFirst) return child(open, OPEN);
      if (isNull(open)) return child(open, NULL);
      const found = child(nullAbove(open.alpha), NULL);
      const better = found[0] > open.alpha && found[0] < open.beta;
      // At a leaf the null window's answer is exact already.
      return better && !this.#game.isExact(move, depth - 1) ? child(open, AGAIN) : found;
    });
  }

  /** A node's moves, one after the other, until alpha has reached beta; `valueOf` searches one. */
  #moves(node, ply, depth, window, valueOf) {
    let moves = this.#expand(node, depth);
    if (!moves) return this.#leaf(node, ply);
    const known = this.#recall(node, ply, depth, window);
    if (known !== null) return [known, []];
    moves = this.#bestFirst(node, ply, moves);
    let { alpha } = window, best = -INFINITY, line = [];
    for (const [index, move] of moves.entries()) {
      const [value, rest] = valueOf(move, { alpha, beta: window.beta }, index === 0);
      best = Math.max(best, value);
      if (value > alpha) {
        [alpha, line] = [value, [move, ...rest]];
        this.#observer.raise(ply, move, value);
      }
      if (alpha >= window.beta) {
        this.#observer.cutoff(ply, alpha, window.beta, moves.slice(index + 1));
        break;
      }
    }
    this.#table?.store(this.#game.key(node), depth, window, best, line.length > 0 ? this.#game.key(line[0]) : null);
    this.#observer.leave(ply, best, line, false);
    return [best, line];
  }

  /** A value out of the table that settles the node. */
  #recall(node, ply, depth, window) {
    const value = this.#table?.value(this.#game.key(node), depth, window) ?? null;
    if (value === null) return null;
    this.#observer.hit(ply);
    this.#observer.leave(ply, value, [], false);
    return value;
  }

  /** The moves with the table's best one first. */
  #bestFirst(node, ply, moves) {
    const best = this.#table?.best(this.#game.key(node)) ?? null;
    const at = best === null ? -1 : moves.findIndex(move => this.#game.key(move) === best);
    if (at <= 0) return moves;
    this.#observer.first(ply, moves[at]);
    return [moves[at], ...moves.slice(0, at), ...moves.slice(at + 1)];
  }

  /** Counts a node; its moves, or `null` at a leaf and at the end of the depth. */
  #expand(node, depth) {
    this.nodes++;
    const moves = this.#game.children(node);
    return depth > 0 && moves.length > 0 ? moves : null;
  }

  #leaf(node, ply) {
    const value = this.#game.value(node);
    this.#observer.leave(ply, value, [], true);
    return [value, []];
  }
}
