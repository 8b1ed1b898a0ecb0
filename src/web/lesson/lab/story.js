// Creates records of searches from Max's point of view, with the same wording as the Rust code.

import { AGAIN, FULL, INFINITY, Search, Table, flipped, isNull } from "./search.js";
import { PositionTree } from "./tree.js";

/** Maximum number of moves in a cutoff that are shown individually. */
const SHOWN_CUT = 3;
const ROOT = 0;

/** The search methods: an algorithm, with or without a table and iterative deepening. */
export const METHODS = [
  { name: "minimax", algorithm: "minimax", table: false, deepening: false },
  ...[[false, false, ""], [true, false, " with table"], [false, true, " with deepening"], [true, true, " with table and deepening"]].flatMap(([table, deepening, more]) =>
    ["alpha-beta", "pvs"].map(algorithm => ({ name: algorithm + more, algorithm, table, deepening }))),
];

/** Searches a whole tree and returns the complete record. */
export function watch(tree, method) {
  const game = new PositionTree(tree), recorder = new Recorder(), table = new Table(method.table);
  const first = method.deepening ? 1 : game.height;
  for (let depth = first; depth <= Math.max(first, game.height); depth++) {
    if (method.deepening) recorder.iteration(depth);
    const search = new Search(game, recorder, method.table || method.deepening ? table : null);
    const [, line] = search.run(method.algorithm, ROOT, 0, depth, FULL);
    const keys = [ROOT, ...line].map(node => game.key(node));
    table.expect(line.map((_, index) => [keys[index], keys[index + 1]]));
  }
  return new RecordRenderer(game, recorder, method.name).render();
}

class Recorder {
  visits = []; steps = []; #path = [];

  get #current() { return this.#path.at(-1); }

  iteration(depth) { this.steps.push({ kind: "iteration", depth }); }

  enter(ply, via, window, why) {
    const id = this.visits.length;
    this.visits.push({ parent: this.#current ?? null, via, window, why, value: 0, line: [], leaf: false, hit: false, cutoff: null });
    this.steps.push({ kind: "enter", id });
    this.#path.push(id);
  }

  hit() { this.visits[this.#current].hit = true; }

  first(_ply, move) { this.steps.push({ kind: "first", id: this.#current, move }); }

  raise(_ply, move, value) { this.steps.push({ kind: "raise", id: this.#current, move, value }); }

  cutoff(_ply, alpha, beta, rest) {
    if (rest.length === 0) return;
    this.visits[this.#current].cutoff = { alpha, beta, rest };
    this.steps.push({ kind: "cutoff", id: this.#current });
  }

  leave(_ply, value, line, leaf) {
    const id = this.#path.pop();
    Object.assign(this.visits[id], { value, line, leaf });
    this.steps.push({ kind: "leave", id });
  }
}

export const boundText = bound => bound >= INFINITY ? "+∞" : bound <= -INFINITY ? "-∞" : String(bound);
const finite = bound => Math.abs(bound) < INFINITY ? bound : null;
const typeOf = ({ alpha, beta }, value) => value >= beta ? "cut" : value <= alpha ? "all" : "pv";
/** Formats a line as ` by N1 N3`, or as an empty string if the line is empty. */
export const byLine = line => line.length > 0 ? ` by ${line.join(" ")}` : "";
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Describes a visit from Max's point of view, with the names of the nodes that it cut off. */
function renderVisit(visit, max, estimate, cut) {
  const { alpha, beta } = max ? visit.window : flipped(visit.window);
  const type = typeOf(visit.window, visit.value);
  const [atLeast, atMost] = max ? [">=", "<="] : ["<=", ">="];
  const crossed = visit.cutoff && (max ? visit.cutoff : flipped(visit.cutoff));
  return {
    window: `(${boundText(alpha)}, ${boundText(beta)})`, alpha: finite(alpha), beta: finite(beta),
    null: isNull(visit.window), again: visit.why === AGAIN, leaf: visit.leaf,
    value: (max ? visit.value : -visit.value) + 0, kind: type, hit: visit.hit,
    relation: visit.leaf ? (estimate ? "~" : "=") : { cut: atLeast, all: atMost, pv: "=" }[type],
    cutoff: crossed && `alpha ${boundText(crossed.alpha)} >= beta ${boundText(crossed.beta)}`, cut,
  };
}

/** Creates a search record from names and numbers. */
class RecordRenderer {
  #game; #recorder; #name; #windows;
  /** The nodes in the order of their first visits, their ids in the game, and the index of each id. */
  #nodes = []; #ids = []; #at = new Map();
  /** For each visit, the index of its node, and the index of the visit within that node. */
  #place = [];

  constructor(game, recorder, name) {
    [this.#game, this.#recorder, this.#name, this.#windows] = [game, recorder, name, name !== "minimax"];
  }

  render() {
    const { visits, steps } = this.#recorder;
    visits.forEach(visit => this.#addVisit(visit));
    const events = steps.map(step => this.#event(step)).filter(step => step !== null);
    const last = visits.findLast(visit => visit.parent === null);
    for (const id of [ROOT, ...last.line]) if (this.#at.has(id)) this.#nodes[this.#at.get(id)].on_line = true;
    this.#addCut();
    const visited = this.#nodes.flatMap(node => node.visits);
    const record = {
      algorithm: this.#name, windows: this.#windows, summary: "", value: this.#nodes[0].visits.at(-1).value,
      line: this.#names(last.line), nodes: visits.length, distinct: this.#nodes.filter(node => node.kind).length,
      cutoffs: visited.filter(visit => visit.cutoff).length, researches: visited.filter(visit => visit.again).length,
      hits: visited.filter(visit => visit.hit).length,
      types: ["pv", "cut", "all"].map(kind => visited.filter(visit => visit.kind === kind).length),
      hidden: 0, tree: this.#nodes, steps: events,
    };
    record.summary = summary(record);
    return record;
  }

  #names(ids) { return ids.map(id => this.#game.name(id)); }

  #addVisit(visit) {
    const id = visit.via ?? ROOT;
    if (!this.#at.has(id)) this.#addNode(id, visit.parent === null ? null : this.#place[visit.parent][0]);
    const at = this.#at.get(id), node = this.#nodes[at];
    const rendered = renderVisit(visit, node.max, this.#game.isEstimate(id), this.#names(visit.cutoff?.rest ?? []));
    node.kind = rendered.kind;
    node.visits.push(rendered);
    this.#place.push([at, node.visits.length - 1]);
  }

  #addNode(id, parent) {
    this.#at.set(id, this.#nodes.length);
    this.#ids.push(id);
    const ply = parent === null ? 0 : this.#nodes[parent].ply + 1;
    this.#nodes.push({ parent, name: this.#game.name(id), max: this.#game.isMax(id), ply, kind: null, on_line: false, visits: [], stands_for: 1, hidden: 0 });
  }

  /** Adds the nodes that were never visited because of a cutoff. */
  #addCut() {
    const add = (id, parent) => {
      this.#addNode(id, parent);
      const at = this.#at.get(id);
      for (const child of this.#game.children(id)) add(child, at);
    };
    this.#recorder.visits.forEach((visit, index) => {
      for (const id of visit.cutoff?.rest ?? []) if (!this.#at.has(id)) add(id, this.#place[index][0]);
    });
    // Add the children of nodes that an early iteration only estimated and a later iteration cut off.
    for (const at of [...this.#nodes.keys()]) {
      for (const id of this.#game.children(this.#ids[at])) if (!this.#at.has(id)) add(id, at);
    }
  }

  /** Describes a step. Returns `null` for steps that are not shown. */
  #event(step) {
    if (step.kind === "iteration") return { node: 0, visit: step.depth - 1, kind: "iteration", value: null, text: `iteration ${step.depth}` };
    const visit = this.#recorder.visits[step.id], [node, number] = this.#place[step.id];
    if (step.kind === "leave" && visit.leaf) return null;
    const kind = step.kind === "enter" && visit.leaf ? "leaf" : step.kind === "leave" && visit.hit ? "hit" : step.kind;
    const value = kind !== "raise" ? null : this.#nodes[node].max ? step.value : -step.value;
    return { node, visit: number, kind, value, text: this.#words(kind, step, visit, this.#nodes[node], this.#nodes[node].visits[number]) };
  }

  #words(kind, step, visit, { name, max }, rendered) {
    const window = this.#windows ? `, ${rendered.null ? "null window" : "window"} ${rendered.window}` : "";
    const value = `${name} ${rendered.relation} ${rendered.value}`;
    const which = !this.#windows ? "best" : max ? "alpha" : "beta";
    switch (kind) {
      case "enter": return `${name} ${max ? "max" : "min"}${rendered.again ? ", again" : ""}${window}`;
      case "leaf": return value + window;
      case "first": return `${name}: ${this.#game.name(step.move)} first`;
      case "raise": return `${name}: ${which} = ${max ? step.value : -step.value + 0} by ${this.#game.name(step.move)}`;
      case "cutoff": return `${name}: ${rendered.cutoff}, cut off: ${rendered.cut.length > SHOWN_CUT ? `${rendered.cut.length} moves` : rendered.cut.join(" ")}`;
      case "hit": return `${value} from the table`;
      default: return value + byLine(this.#names(visit.line));
    }
  }
}

/** Formats the value, the line and the counts on one line. */
function summary({ algorithm, value, line, nodes, distinct, cutoffs, researches, hits, tree }) {
  const visits = nodes === distinct ? `${counted(nodes, "node")} visited` : `${nodes} visits of ${counted(distinct, "node")}`;
  const never = tree.filter(node => node.kind === null).map(node => node.name);
  return [
    `${algorithm}: value ${value}${byLine(line)}; ${visits}`,
    cutoffs > 0 && counted(cutoffs, "cutoff"), researches > 0 && `${researches} searched again`,
    hits > 0 && `${counted(hits, "visit")} settled by the table`,
    never.length > 0 && `never visited: ${never.length > 8 ? `${never.length} nodes` : never.join(" ")}`,
  ].filter(part => part).join(", ");
}
