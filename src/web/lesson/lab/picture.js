// The picture of a tree at a step of its search.

import { draw, make } from "./dom.js";

/** Half the width of a node, from one level to the next, and around all, in pixels. */
const RADIUS = 17, LEVEL = 84, MARGIN = 8;
/** Room for a leaf: the least, the most, and the least with windows written on all edges. */
const NARROWEST = 2 * RADIUS + 2, WIDEST = 118, LABELLED = 70;
const SMALL_ROW = 13;
/** Letters of a name that fit a node in ordinary print, and in small print. */
const SHORT_NAME = 5, LONG_NAME = 7;

/** Relations and bounds as they are written by hand. */
export const written = text => text.replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("~", "≈").replaceAll(/-(?=[\d∞])/g, "−");
export const greek = text => written(text).replace("alpha", "α").replace("beta", "β");

/** What tells a node of a picture from all others: its name, unless other nodes have that too. */
export const keyOf = node => node.key ?? node.name;

/** The numbers of the nodes below each node. */
export function childrenOf(nodes) {
  const children = nodes.map(() => []);
  nodes.forEach(({ parent }, id) => { if (parent !== null) children[parent].push(id); });
  return children;
}

/** A tree that nobody has searched, as the story of a search has it. */
export function unsearched(tree) {
  const nodes = tree.nodes.map(({ name, parent, depth }, id) => ({ parent, name, max: tree.isMax(id), ply: depth, kind: null, on_line: false, visits: [], stands_for: 1, hidden: 0 }));
  return { tree: nodes, steps: [], windows: false, isPlain: true };
}

/** What is known after so many steps: for each node its visits so far, and which nodes are cut off. */
export function knownAfter(story, step) {
  const visits = story.tree.map(() => []), cut = new Set(), children = childrenOf(story.tree);
  const counts = { visits: 0, nodes: 0, cutoffs: 0, again: 0, hits: 0 };
  for (const { node, visit, kind } of story.steps.slice(0, step)) {
    const told = story.tree[node].visits[visit];
    if (kind === "iteration") continue;
    visits[node][visit] ??= { told, done: false, cutoff: null };
    const seen = visits[node][visit];
    if (kind === "enter" || kind === "leaf") {
      counts.visits++;
      if (visits[node].length === 1) counts.nodes++;
      if (told.again) counts.again++;
    }
    if (kind === "cutoff") {
      seen.cutoff = told.cutoff;
      counts.cutoffs++;
      // One node may stand for many that were cut off.
      for (const child of children[node]) if (told.cut.includes(story.tree[child].name) || !story.tree[child].kind) cut.add(child);
    }
    if (kind === "hit") counts.hits++;
    if (kind === "leave" || kind === "leaf" || kind === "hit") seen.done = true;
  }
  return { visits, cut, counts };
}

/** A tree that can be looked at, walked through and folded. It tells which node was chosen, by its key. */
export class TreePicture {
  root = make("div", { class: "picture" });
  #onChoose; #story = null; #children = []; #points = new Map(); #folded = new Set(); #groups = new Map();

  constructor(onChoose) {
    this.#onChoose = onChoose;
    this.root.addEventListener("keydown", event => this.#key(event));
  }

  /** Without anybody to tell, nothing can be chosen. */
  get #isLive() { return this.#onChoose !== null; }

  /** Takes another story; folded nodes stay folded. */
  take(story) {
    this.#story = story;
    this.#children = childrenOf(story.tree);
  }

  /** Folds what is below a node away, or unfolds it. */
  fold(key) {
    if (!this.#folded.delete(key)) this.#folded.add(key);
  }

  unfold() { this.#folded.clear(); }

  /** Draws the tree after so many steps, with a node chosen; `values` tells what leaves are worth. */
  paint(step, chosen, values) {
    const { tree, steps, windows } = this.#story, known = knownAfter(this.#story, step);
    const spacing = this.#layout();
    const now = step > 0 ? steps[step - 1].node : null;
    const state = { known, over: step === steps.length, now, chosen, values, path: this.#path(now) };
    const width = Math.max(...[...this.#points.values()].map(([x]) => x)) + RADIUS + MARGIN;
    const height = Math.max(...[...this.#points.values()].map(([, y]) => y)) + RADIUS + MARGIN + SMALL_ROW;
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: this.#isLive ? "group" : "img", "aria-label": this.#isLive ? "The tree" : this.#inWords(values) });
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

  /** Leaves side by side, parents in the middle above their children; the room of a leaf. */
  #layout() {
    const { tree } = this.#story, below = id => this.#folded.has(keyOf(tree[id])) ? [] : this.#children[id];
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

  /** The nodes from the root to one. */
  #path(id) {
    const path = new Set();
    for (let at = id; at !== null; at = this.#story.tree[at].parent) path.add(at);
    return path;
  }

  #class(id, { known, over, path }) {
    if (this.#story.isPlain) return "plain";
    const { parent, on_line } = this.#story.tree[id], last = known.visits[id].at(-1);
    if (!last) return known.cut.has(id) || this.#isBelowCut(parent, known) ? "never" : "unseen";
    return `${last.done ? last.told.kind : "open"}${over && on_line ? " line" : ""}${path.has(id) ? " path" : ""}`;
  }

  #isBelowCut(id, known) {
    for (let at = id; at !== null; at = this.#story.tree[at].parent) {
      if (known.visits[at].length > 0) return false;
      if (known.cut.has(at)) return true;
    }
    return false;
  }

  #edge(id, state) {
    const [x, y] = this.#points.get(id), [px, py] = this.#points.get(this.#story.tree[id].parent);
    return draw("line", { class: `edge ${this.#class(id, state)}`, x1: px, y1: py + RADIUS, x2: x, y2: y - RADIUS });
  }

  /** The windows of a node's visits, on the edge that leads to it. */
  #windows(id, { known }) {
    const [x, y] = this.#points.get(id), [px, py] = this.#points.get(this.#story.tree[id].parent);
    const top = py + RADIUS, bottom = y - RADIUS, visits = known.visits[id].slice(-3);
    return visits.map(({ told }, index) => {
      const at = bottom - 5 - (visits.length - index - 1) * SMALL_ROW;
      return draw("text", { class: `small halo ${told.null ? "null" : ""}`, x: x + (px - x) * (bottom - at) / (bottom - top), y: at }, written(told.window));
    });
  }

  /** The node, its name and its value inside. */
  #node(id, state) {
    const { name, max, hidden } = this.#story.tree[id], key = keyOf(this.#story.tree[id]), [x, y] = this.#points.get(id);
    const last = state.known.visits[id].at(-1), own = state.values?.get(name);
    const value = last?.done ? written(`${last.told.leaf && last.told.relation === "=" ? "" : `${last.told.relation} `}${last.told.value}`) : own !== undefined ? written(String(own)) : "";
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

  /** The tree for those who do not see it: each node with its children. */
  #inWords(values) {
    const { tree } = this.#story;
    const inner = tree.map(({ name }, id) => this.#children[id].length > 0 ? `${name} has ${this.#children[id].map(child => tree[child].name).join(", ")}` : `${name} is worth ${values?.get(name)}`);
    return `The tree: ${inner.join("; ")}`;
  }

  #size(id) { return 1 + this.#children[id].reduce((sum, child) => sum + this.#size(child), 0); }

  /** Where alpha has met beta: a double stroke across the edge to the first node that is cut off, and why. */
  #cutoffs(id, { known }, explained) {
    const [x, y] = this.#points.get(id), marks = [];
    known.visits[id].filter(visit => visit.cutoff).forEach(({ told, cutoff }, index) => {
      const cut = this.#children[id].find(child => told.cut.includes(this.#story.tree[child].name)) ?? this.#children[id].find(child => !this.#story.tree[child].kind);
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

  /** In the tree the arrows go from node to node. */
  #key(event) {
    const { tree } = this.#story, at = tree.findIndex(node => keyOf(node) === event.target.dataset?.node);
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
