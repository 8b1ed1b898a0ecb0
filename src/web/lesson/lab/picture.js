// A picture of a tree at one step of a search.

import { draw, make } from "./dom.js";

/** Half the width of a node, the distance between levels, and the margin, in pixels. */
const RADIUS = 17, LEVEL = 84, MARGIN = 8;
/** The width per leaf in pixels: minimum, maximum, and minimum for labels on all edges. */
const NARROWEST = 2 * RADIUS + 2, WIDEST = 118, LABELLED = 70;
const SMALL_ROW = 13;
/** Maximum number of letters of a name in normal and in small print. */
const SHORT_NAME = 5, LONG_NAME = 7;

/** Returns a text with mathematical signs, such as ≥ instead of >=. */
export const written = text => text.replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("~", "≈").replaceAll(/-(?=[\d∞])/g, "−");
export const greek = text => written(text).replace("alpha", "α").replace("beta", "β");

/** Returns the unique key of a node: its name, unless several nodes have the same name. */
export const keyOf = node => node.key ?? node.name;

export function childrenOf(nodes) {
  const children = nodes.map(() => []);
  nodes.forEach(({ parent }, id) => { if (parent !== null) children[parent].push(id); });
  return children;
}

/** Returns the record of a tree before any search. */
export function unsearched(tree) {
  const nodes = tree.nodes.map(({ name, parent, depth }, id) => ({ parent, name, max: tree.isMax(id), ply: depth, kind: null, on_line: false, visits: [], stands_for: 1, hidden: 0 }));
  return { tree: nodes, steps: [], windows: false, isPlain: true };
}

/** Returns the state after `step` steps: each node's visits so far, the nodes that are cut off, and counts. */
export function stateAfter(record, step) {
  const visits = record.tree.map(() => []), cut = new Set(), children = childrenOf(record.tree);
  const counts = { visits: 0, nodes: 0, cutoffs: 0, again: 0, hits: 0 };
  for (const { node, visit, kind } of record.steps.slice(0, step)) {
    const details = record.tree[node].visits[visit];
    if (kind === "iteration") continue;
    visits[node][visit] ??= { details, done: false, cutoff: null };
    const seen = visits[node][visit];
    if (kind === "enter" || kind === "leaf") {
      counts.visits++;
      if (visits[node].length === 1) counts.nodes++;
      if (details.again) counts.again++;
    }
    if (kind === "cutoff") {
      seen.cutoff = details.cutoff;
      counts.cutoffs++;
      // A single node may represent many nodes that were cut off.
      for (const child of children[node]) if (details.cut.includes(record.tree[child].name) || !record.tree[child].kind) cut.add(child);
    }
    if (kind === "hit") counts.hits++;
    if (kind === "leave" || kind === "leaf" || kind === "hit") seen.done = true;
  }
  return { visits, cut, counts };
}

/** A picture of a tree with navigation and collapsible subtrees. Calls `onChoose` with the key of a selected node. */
export class TreePicture {
  root = make("div", { class: "picture" });
  #onChoose; #record = null; #children = []; #points = new Map(); #folded = new Set(); #groups = new Map();

  constructor(onChoose) {
    this.#onChoose = onChoose;
    this.root.addEventListener("keydown", event => this.#onKey(event));
  }

  get #isLive() { return this.#onChoose !== null; }

  /** Sets another record. Collapsed nodes stay collapsed. */
  take(record) {
    this.#record = record;
    this.#children = childrenOf(record.tree);
  }

  fold(key) {
    if (!this.#folded.delete(key)) this.#folded.add(key);
  }

  unfold() { this.#folded.clear(); }

  /** Draws the tree after `step` steps, with a selected node. `values` maps leaves to their values. Returns counts. */
  paint(step, chosen, values) {
    const { tree, steps, windows } = this.#record, known = stateAfter(this.#record, step);
    const spacing = this.#layout();
    const now = step > 0 ? steps[step - 1].node : null;
    const state = { known, over: step === steps.length, now, chosen, values, path: this.#path(now) };
    const width = Math.max(...[...this.#points.values()].map(([x]) => x)) + RADIUS + MARGIN;
    const height = Math.max(...[...this.#points.values()].map(([, y]) => y)) + RADIUS + MARGIN + SMALL_ROW;
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: this.#isLive ? "group" : "img", "aria-label": this.#isLive ? "The tree" : this.#textAlternative(values) });
    for (const id of this.#points.keys()) if (tree[id].parent !== null) svg.append(this.#edge(id, state));
    this.#groups.clear();
    for (const id of this.#points.keys()) svg.append(this.#node(id, state));
    for (const id of this.#points.keys()) {
      if (windows && tree[id].parent !== null && (spacing >= LABELLED || state.path.has(id))) svg.append(...this.#windows(id, state));
      svg.append(...this.#cutoffs(id, state, spacing >= LABELLED));
    }
    const hadFocus = this.root.contains(document.activeElement);
    this.root.replaceChildren(svg);
    if (hadFocus) this.#groups.get(chosen)?.focus({ preventScroll: true });
    if (now !== null && this.#points.has(now)) this.#scrollTo(this.#points.get(now)[0]);
    return known.counts;
  }

  /** Places leaves side by side, and parents above the middle of their children. Returns the width per leaf. */
  #layout() {
    const { tree } = this.#record, below = id => this.#folded.has(keyOf(tree[id])) ? [] : this.#children[id];
    const count = id => Math.max(1, below(id).reduce((sum, child) => sum + count(child), 0));
    const room = (this.root.clientWidth || WIDEST * 8) - 2 * MARGIN;
    const spacing = Math.max(NARROWEST, Math.min(WIDEST, room / count(0)));
    this.#points.clear();
    let leaves = 0;
    const place = id => {
      const xs = below(id).map(place);
      const x = xs.length > 0 ? (xs[0] + xs.at(-1)) / 2 : MARGIN + spacing * (leaves++ + .5);
      this.#points.set(id, [x, MARGIN + RADIUS + LEVEL * tree[id].ply]);
      return x;
    };
    place(0);
    return spacing;
  }

  #path(id) {
    const path = new Set();
    for (let at = id; at !== null; at = this.#record.tree[at].parent) path.add(at);
    return path;
  }

  #class(id, { known, over, path }) {
    if (this.#record.isPlain) return "plain";
    const { parent, on_line } = this.#record.tree[id], last = known.visits[id].at(-1);
    if (!last) return known.cut.has(id) || this.#isBelowCut(parent, known) ? "never" : "unseen";
    return `${last.done ? last.details.kind : "open"}${over && on_line ? " line" : ""}${path.has(id) ? " path" : ""}`;
  }

  #isBelowCut(id, known) {
    for (let at = id; at !== null; at = this.#record.tree[at].parent) {
      if (known.visits[at].length > 0) return false;
      if (known.cut.has(at)) return true;
    }
    return false;
  }

  #edge(id, state) {
    const [x, y] = this.#points.get(id), [px, py] = this.#points.get(this.#record.tree[id].parent);
    return draw("line", { class: `edge ${this.#class(id, state)}`, x1: px, y1: py + RADIUS, x2: x, y2: y - RADIUS });
  }

  /** Draws the windows of a node's last visits on the edge that leads to the node. */
  #windows(id, { known }) {
    const [x, y] = this.#points.get(id), [px, py] = this.#points.get(this.#record.tree[id].parent);
    const top = py + RADIUS, bottom = y - RADIUS, visits = known.visits[id].slice(-3);
    return visits.map(({ details }, index) => {
      const at = bottom - 5 - (visits.length - index - 1) * SMALL_ROW;
      return draw("text", { class: `small halo ${details.null ? "null" : ""}`, x: x + (px - x) * (bottom - at) / (bottom - top), y: at }, written(details.window));
    });
  }

  #node(id, state) {
    const { name, max, hidden } = this.#record.tree[id], key = keyOf(this.#record.tree[id]), [x, y] = this.#points.get(id);
    const last = state.known.visits[id].at(-1), own = state.values?.get(name);
    const value = last?.done ? written(`${last.details.leaf && last.details.relation === "=" ? "" : `${last.details.relation} `}${last.details.value}`) : own !== undefined ? written(String(own)) : "";
    const isChosen = key === state.chosen;
    const group = draw("g", {
      class: `node ${this.#class(id, state)}${id === state.now ? " now" : ""}${isChosen ? " chosen" : ""}`, "data-node": key,
      ...this.#isLive ? { role: "button", tabindex: isChosen ? 0 : -1, "aria-label": `${name}, ${max ? "Max" : "Min"}${value ? `, ${value}` : ""}`, "aria-pressed": String(isChosen), onclick: () => this.#onChoose(key) } : {},
    });
    group.append(max ? draw("rect", { class: "shape", x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS, rx: 4 }) : draw("circle", { class: "shape", cx: x, cy: y, r: RADIUS }));
    group.append(draw("text", { class: name.length > LONG_NAME ? "name longest" : name.length > SHORT_NAME ? "name long" : "name", x, y: value ? y - 1 : y + 4 }, name));
    if (value) group.append(draw("text", { class: "value", x, y: y + 11 }, value));
    const folded = this.#folded.has(key) && this.#children[id].length > 0;
    if (folded) group.append(draw("text", { class: "small halo fold", x, y: y + RADIUS + SMALL_ROW }, `▸ ${this.#size(id) - 1}`));
    else if (hidden && state.over) group.append(draw("text", { class: "small halo", x, y: y + RADIUS + SMALL_ROW }, `+${hidden}`));
    this.#groups.set(key, group);
    return group;
  }

  /** Returns a text alternative that lists each node with its children. */
  #textAlternative(values) {
    const { tree } = this.#record;
    const inner = tree.map(({ name }, id) => this.#children[id].length > 0 ? `${name} has ${this.#children[id].map(child => tree[child].name).join(", ")}` : `${name} has the value ${values?.get(name)}`);
    return `The tree: ${inner.join("; ")}`;
  }

  #size(id) { return 1 + this.#children[id].reduce((sum, child) => sum + this.#size(child), 0); }

  /** Draws the cutoffs of a node: a double stroke across the edge to the first node that is cut off, and the bounds. */
  #cutoffs(id, { known }, explained) {
    const [x, y] = this.#points.get(id), marks = [];
    known.visits[id].filter(visit => visit.cutoff).forEach(({ details, cutoff }, index) => {
      const cut = this.#children[id].find(child => details.cut.includes(this.#record.tree[child].name)) ?? this.#children[id].find(child => !this.#record.tree[child].kind);
      const [cx, cy] = this.#points.get(cut) ?? [x, y + LEVEL];
      const mx = (x + cx) / 2, my = (y + cy) / 2;
      for (const shift of [-3, 3]) marks.push(draw("line", { class: "slash", x1: mx - 9, y1: my + shift + 4, x2: mx + 9, y2: my + shift - 4 }));
      if (explained) marks.push(draw("text", { class: "why halo", x: x + RADIUS + 4, y: y + 4 + SMALL_ROW * index }, greek(cutoff)));
    });
    return marks;
  }

  #scrollTo(x) {
    const { scrollLeft, clientWidth } = this.root;
    if (x < scrollLeft + RADIUS || x > scrollLeft + clientWidth - RADIUS) this.root.scrollLeft = x - clientWidth / 2;
  }

  /** Moves between nodes with the arrow keys. */
  #onKey(event) {
    const { tree } = this.#record, at = tree.findIndex(node => keyOf(node) === event.target.dataset?.node);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const { parent } = tree[at], siblings = parent === null ? [at] : this.#children[parent], place = siblings.indexOf(at);
    const to = { ArrowUp: parent, ArrowDown: this.#children[at][0], ArrowLeft: siblings[place - 1], ArrowRight: siblings[place + 1], Enter: at, " ": at }[event.key];
    if (to === undefined && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined || to === null || !this.#points.has(to)) return;
    this.#onChoose(keyOf(tree[to]));
    this.#groups.get(keyOf(tree[to]))?.focus();
  }
}
