// Minimax, alpha-beta and principal variation search in textbook form: negamax, with or without a table. The
// steps are the same as in the Rust code.

/** Greater than every value. */
export const INFINITY = 32001;
export const FULL = { alpha: -INFINITY, beta: INFINITY };
/** Why a node has its window: it is the open window, a null-window test, or a re-search after the test failed high. */
const OPEN = "open";
const NULL = "null";
export const AGAIN = "again";

export const flipped = ({ alpha, beta }) => ({ alpha: -beta, beta: -alpha });
/** Returns the null window that tests whether a value is greater than alpha. */
export const nullAbove = alpha => ({ alpha, beta: alpha + 1 });
export const isNull = ({ alpha, beta }) => beta - alpha <= 1;

const NO_OBSERVER = { enter() {}, hit() {}, first() {}, raise() {}, cutoff() {}, leave() {} };

/** A transposition table, or a table that contains only the line to search first. */
export class Table {
  #entries = new Map(); #keepsValues;

  constructor(keepsValues) { this.#keepsValues = keepsValues; }

  /** Stores a line to search first: position keys, each with the next key. A transposition table already contains it. */
  expect(line) {
    if (this.#keepsValues) return;
    this.#entries = new Map(line.map(([key, best]) => [key, { depth: -1, value: 0, bound: "exact", best }]));
  }

  /** Returns a stored value that is sufficient for a search to `depth` with this window, or `null`. */
  value(key, depth, { alpha, beta }) {
    const entry = this.#entries.get(key);
    if (!entry || entry.depth < depth) return null;
    const suffices = { exact: true, lower: entry.value >= beta, upper: entry.value <= alpha }[entry.bound];
    return suffices ? entry.value : null;
  }

  best(key) { return this.#entries.get(key)?.best ?? null; }

  store(key, depth, { alpha, beta }, value, best) {
    if (!this.#keepsValues) return;
    const bound = value >= beta ? "lower" : value <= alpha ? "upper" : "exact";
    this.#entries.set(key, { depth, value, bound, best: best ?? this.best(key) });
  }
}

/** A search. Windows and values are from the side to move's point of view. A result is a value and the best line. */
export class Search {
  nodes = 0;
  #game; #observer; #table;

  constructor(game, observer = NO_OBSERVER, table = null) {
    this.#game = game;
    this.#observer = observer;
    this.#table = table;
  }

  /** Searches a node that is `ply` plies from the root to a depth of `depth` plies. */
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
      const child = (window, why) => {
        this.#observer.enter(ply + 1, move, flipped(window), why);
        const [below, rest] = this.#pvs(move, ply + 1, depth - 1, flipped(window));
        return [-below, rest];
      };
      if (isFirst) return child(open, OPEN);
      if (isNull(open)) return child(open, NULL);
      const found = child(nullAbove(open.alpha), NULL);
      const better = found[0] > open.alpha && found[0] < open.beta;
      // At a leaf, the result of the null-window search is already exact.
      return better && !this.#game.isExact(move, depth - 1) ? child(open, AGAIN) : found;
    });
  }

  /** Searches the moves of a node until alpha reaches beta. `valueOf` searches one move. */
  #moves(node, ply, depth, window, valueOf) {
    let moves = this.#expand(node, depth);
    if (!moves) return this.#leaf(node, ply);
    const known = this.#probeTable(node, ply, depth, window);
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

  /** Returns a sufficient value from the table, or `null`. */
  #probeTable(node, ply, depth, window) {
    const value = this.#table?.value(this.#game.key(node), depth, window) ?? null;
    if (value === null) return null;
    this.#observer.hit(ply);
    this.#observer.leave(ply, value, [], false);
    return value;
  }

  #bestFirst(node, ply, moves) {
    const best = this.#table?.best(this.#game.key(node)) ?? null;
    const at = best === null ? -1 : moves.findIndex(move => this.#game.key(move) === best);
    if (at <= 0) return moves;
    this.#observer.first(ply, moves[at]);
    return [moves[at], ...moves.slice(0, at), ...moves.slice(at + 1)];
  }

  /** Counts a node and returns its moves, or `null` at a leaf and at the depth limit. */
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
