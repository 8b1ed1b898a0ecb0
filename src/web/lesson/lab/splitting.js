// PV-splitting on a simulated clock, with the same timeline as in the Rust code. A visit takes one tick.

import { FULL, Search, flipped, nullAbove } from "./search.js";
import { boundText, byLine } from "./story.js";
import { PositionTree } from "./tree.js";

/** The minimum depth in plies at which nodes are split. Smaller subtrees are not worth sharing. */
const MIN_SPLIT_DEPTH = 2;

/** Simulates a search of a tree by this number of threads. */
export function splitOnAClock(tree, threads) {
  const game = new PositionTree(tree), clock = new Clock(game, threads);
  const [value, line] = clock.pvSplit({ node: 0, ply: 0, depth: game.height, window: FULL });
  const serial = new Search(game);
  serial.run("alpha-beta", 0, 0, game.height, FULL);
  return timelineOf(clock, (tree.isMax(0) ? value : -value) + 0, line.map(node => game.name(node)), serial.nodes);
}

function timelineOf({ threads, now: ticks, visits, spans }, value, line, serial) {
  // The speedup in hundredths, rounded half up, computed with integers.
  const faster = Math.floor((200 * serial + ticks) / (2 * ticks));
  const times = `${Math.floor(faster / 100)}.${String(faster % 100).padStart(2, "0")}`;
  const summary = `pv-splitting, ${threads} thread${threads === 1 ? "" : "s"}: value ${value}${byLine(line)}; ${visits} visits in ${ticks} ticks, ${times} times as fast as alpha-beta`;
  return { threads, value, line, ticks, visits, serial, summary, spans };
}

class Clock {
  now = 0; visits = 0; spans = []; threads; #game;

  constructor(game, threads) {
    this.#game = game;
    this.threads = threads;
  }

  /** Returns the value and line of a node on the principal variation. */
  pvSplit(place) {
    const { node, ply, depth, window } = place;
    const moves = depth < MIN_SPLIT_DEPTH ? [] : this.#game.children(node);
    if (moves.length === 0) {
      const job = this.#begin({ node, window, work: "first" }, ply, depth);
      this.now = job.end;
      this.#note(0, job, job.end);
      return [job.value, job.line];
    }
    const [first, ...siblings] = moves;
    this.now++;
    this.#note(0, { node, window, work: "split", begin: this.now - 1, end: this.now, value: 0, line: [] }, this.now);
    const [below, rest] = this.pvSplit({ node: first, ply: ply + 1, depth: depth - 1, window: flipped(window) });
    const best = [-below, [first, ...rest]];
    if (best[0] >= window.beta || siblings.length === 0) return best;
    return this.#shareOut({ place, siblings, best, alpha: Math.max(window.alpha, best[0]) });
  }

  #shareOut(split) {
    const { beta } = split.place.window;
    const busy = Array.from({ length: this.threads }, () => this.#nextSibling(split));
    for (let thread = firstDone(busy); thread >= 0; thread = firstDone(busy)) {
      const job = busy[thread], value = -job.value, alpha = -job.window.beta;
      this.now = job.end;
      this.#note(thread, job, job.end);
      if (job.work === "null" && value > alpha && value < beta) {
        busy[thread] = this.#beginBelow({ node: job.node, window: flipped({ alpha: split.alpha, beta }), work: "again" }, split.place);
        continue;
      }
      busy[thread] = null;
      if (value > split.best[0]) {
        split.best = [value, [job.node, ...job.line]];
        split.alpha = Math.max(split.alpha, value);
      }
      if (value >= beta) {
        busy.forEach((other, at) => other && this.#note(at, other, this.now));
        break;
      }
      busy[thread] = this.#nextSibling(split);
    }
    return split.best;
  }

  /** Starts the search of the next sibling on a free thread. Returns `null` if no sibling is left. */
  #nextSibling(split) {
    const node = split.siblings.shift();
    return node === undefined ? null : this.#beginBelow({ node, window: flipped(nullAbove(split.alpha)), work: "null" }, split.place);
  }

  #beginBelow(task, { ply, depth }) {
    return this.#begin(task, ply + 1, depth - 1);
  }

  /** Starts a task and computes its result in advance. */
  #begin(task, ply, depth) {
    const search = new Search(this.#game);
    const [value, line] = search.run("alpha-beta", task.node, ply, depth, task.window);
    return { ...task, begin: this.now, end: this.now + search.nodes, value, line };
  }

  #note(at, job, end) {
    const { begin, work } = job, node = this.#game.name(job.node), thread = at + 1, stopped = end < job.end;
    this.visits += end - begin;
    this.spans.push({ thread, begin, end, node, work, stopped, text: `ticks ${begin} to ${end}, thread ${thread}: ${this.#words(job, node, stopped)}` });
  }

  #words({ node: id, window, work, value }, node, stopped) {
    const max = this.#game.isMax(id), { alpha, beta } = max ? window : flipped(window);
    const where = `${work === "null" ? "null window" : "window"} (${boundText(alpha)}, ${boundText(beta)})`;
    if (work === "split") return `${node}, ${where}: splits`;
    if (stopped) return `${node}, ${where}: stopped`;
    const [atLeast, atMost] = max ? [">=", "<="] : ["<=", ">="];
    const relation = value >= window.beta ? atLeast : value <= window.alpha ? atMost : "=";
    return `${node}${work === "again" ? " again" : ""}, ${where}: ${node} ${relation} ${(max ? value : -value) + 0}`;
  }
}

/** Returns the thread whose job ends first, or the lowest such thread. Returns -1 if all are idle. */
function firstDone(busy) {
  return busy.reduce((first, job, at) => job && (first < 0 || job.end < busy[first].end) ? at : first, -1);
}
