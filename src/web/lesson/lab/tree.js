// Parses, formats and edits game trees. A node is represented by its index in text order. Leaf values are
// from Max's point of view, and the players alternate.

export const MAX_VALUE = 10000;
const MAX_DEPTH = 64;
const MAX_NODES = 100000;

export class TreeError extends Error {
  constructor(line, fault) {
    super(`line ${line}: ${fault}`);
    this.line = line;
    this.fault = fault;
  }
}

export class GameTree {
  nodes = [];
  maxBegins = true;

  /** Parses an indented list with one node per line: NAME, and for a leaf its VALUE. */
  static parse(text) {
    return new TreeReader().read(text);
  }

  get length() { return this.nodes.length; }

  isMax(id) { return (this.nodes[id].depth % 2 === 0) === this.maxBegins; }

  isLeaf(id) { return this.nodes[id].children.length === 0; }

  find(name) { return this.nodes.findIndex(node => node.name === name); }

  height() { return this.nodes.reduce((most, node) => Math.max(most, node.depth), 0); }

  /** Appends a node below `parent`, or the root, and returns its index. */
  push(name, parent, value = null) {
    const id = this.nodes.length;
    const depth = parent === null ? 0 : this.nodes[parent].depth + 1;
    this.nodes.push({ name, value, parent, children: [], depth });
    if (parent !== null) this.nodes[parent].children.push(id);
    return id;
  }

  /** Formats the tree so that `parse` can read it. */
  toString() {
    return this.nodes.map(({ name, value, parent, depth }) => {
      const more = value !== null ? ` ${value}` : parent === null ? ` ${this.maxBegins ? "max" : "min"}` : "";
      return `${"  ".repeat(depth)}${name}${more}\n`;
    }).join("");
  }

  /** Returns the minimax value of each node from Max's point of view. */
  minimax() {
    const values = [];
    for (let id = this.length - 1; id >= 0; id--) {
      const { value, children } = this.nodes[id];
      const below = children.map(child => values[child]);
      values[id] = value ?? (this.isMax(id) ? Math.max(...below) : Math.min(...below));
    }
    return values;
  }

  /** Returns a copy of the tree with the children that `childrenOf` returns for each node. */
  rebuilt(childrenOf = id => this.nodes[id].children) {
    const tree = new GameTree();
    tree.maxBegins = this.maxBegins;
    const copy = (id, parent) => {
      const children = childrenOf(id);
      const own = tree.push(this.nodes[id].name, parent, children.length > 0 ? null : this.nodes[id].value);
      for (const child of children) copy(child, own);
    };
    copy(0, null);
    return tree;
  }

  withValue(id, value) {
    const tree = this.rebuilt();
    tree.nodes[id].value = value;
    return tree;
  }

  /** Returns the tree with another leaf below a node. If the node was a leaf, the new child takes its value. */
  withChild(id) {
    const tree = this.rebuilt();
    const parent = tree.nodes[id];
    tree.push(this.#freeName(), id, parent.value ?? 0);
    parent.value = null;
    return tree.rebuilt();
  }

  /** Returns the tree without a node and its subtree. A node that loses its last child takes over the child's value. */
  without(id) {
    const { parent } = this.nodes[id];
    const value = this.minimax()[id];
    const tree = this.rebuilt();
    if (tree.nodes[parent].children.length === 1) tree.nodes[parent].value = value;
    return tree.rebuilt(at => tree.nodes[at].children.filter(child => child !== id));
  }

  /** Returns the tree with a node and its next (`by` is 1) or previous (-1) sibling swapped. */
  withMoved(id, by) {
    const siblings = [...this.nodes[this.nodes[id].parent].children];
    const at = siblings.indexOf(id);
    [siblings[at], siblings[at + by]] = [siblings[at + by], siblings[at]];
    return this.rebuilt(node => node === this.nodes[id].parent ? siblings : this.nodes[node].children);
  }

  canMove(id, by) {
    const { parent } = this.nodes[id];
    if (parent === null) return false;
    const { children } = this.nodes[parent];
    return children[children.indexOf(id) + by] !== undefined;
  }

  canGrow(id) { return this.nodes[id].depth < MAX_DEPTH && this.length < MAX_NODES; }

  #freeName() {
    const taken = new Set(this.nodes.map(node => node.name));
    let number = this.length;
    while (taken.has(`N${number}`)) number++;
    return `N${number}`;
  }
}

class TreeReader {
  #tree = new GameTree();
  /** The nodes on the path from the root to the last one read, with their indentation. */
  #open = [];
  /** The line number of each name. */
  #lines = new Map(); #lineOf = [];

  read(text) {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    lines.forEach((line, index) => {
      const content = line.split("#")[0].trimEnd();
      if (content.trim() !== "") this.#node(content, index + 1);
    });
    return this.#finish(lines.length);
  }

  #node(content, line) {
    const fail = fault => { throw new TreeError(line, fault); };
    const words = content.trim().split(/\s+/);
    const indent = content.length - content.replace(/^ +/, "").length;
    if (/^\s/.test(content.slice(indent))) fail("indented with something else than blanks; use blanks alone");
    const [name, word, more] = words;
    const first = this.#lines.get(name);
    if (first !== undefined) fail(`${name} was there in line ${first} already; give it another name`);
    this.#lines.set(name, line);
    if (this.#tree.length >= MAX_NODES) fail(`more than ${MAX_NODES} nodes; make the tree smaller`);
    const parent = this.#parent(name, indent, fail);
    const node = this.#tree.push(name, parent);
    this.#lineOf.push(line);
    if (this.#tree.nodes[node].depth > MAX_DEPTH) fail(`${name} lies more than ${MAX_DEPTH} levels below the root`);
    this.#open.push({ node, indent });
    if (parent === null && word === "min") this.#tree.maxBegins = false;
    else if (word !== undefined && !(parent === null && word === "max")) this.#tree.nodes[node].value = valueOf(name, word, fail);
    if (more !== undefined) fail(`\`${more}\` is too much; a line is NAME, or NAME VALUE`);
  }

  /** Returns the parent of a node with this indentation. Closes nodes that are not its ancestors. */
  #parent(name, indent, fail) {
    if (this.#tree.length === 0) return indent === 0 ? null : fail("the root is indented; let it begin the line");
    let last = indent;
    while (this.#open.length > 0 && this.#open.at(-1).indent >= indent) last = this.#open.pop().indent;
    if (this.#open.length === 0) fail(`${name} is a second root; indent it below another node`);
    if (last !== indent) fail(`${name} is indented by ${indent} blanks, its siblings are not; align them`);
    const parent = this.#open.at(-1).node;
    const { name: above, value } = this.#tree.nodes[parent];
    if (value !== null) fail(`${name} lies below ${above}, which is a leaf of value ${value}; take one of them away`);
    return parent;
  }

  #finish(lines) {
    const { nodes } = this.#tree;
    if (nodes.length === 0) throw new TreeError(Math.max(lines, 1), "there is no node; the first line is the root, like `N0 max`");
    const bare = nodes.findIndex(node => node.children.length === 0 && node.value === null);
    if (bare >= 0) {
      const { name } = nodes[bare];
      throw new TreeError(this.#lineOf[bare], `${name} has neither children nor a value; write \`${name} 3\`, or indent nodes below it`);
    }
    return this.#tree;
  }
}

function valueOf(name, word, fail) {
  const value = Number(word);
  if (!/^[+-]?\d+$/.test(word) || Math.abs(value) >= 2 ** 31) {
    fail(word === "max" || word === "min" ? `${name}: only the root says \`${word}\`; the players take turns` : `${name}: \`${word}\` is no whole number`);
  }
  if (Math.abs(value) > MAX_VALUE) fail(`${name}: ${value} must lie within ±${MAX_VALUE}`);
  return value + 0;
}

/** A tree whose nodes are positions. Nodes with equal subtrees are the same position, and every node has an estimate. */
export class PositionTree {
  #positions; #estimates;

  constructor(tree) {
    this.tree = tree;
    this.height = tree.height();
    this.#positions = numbered(tree);
    this.#estimates = estimates(tree);
  }

  children(id) { return this.tree.nodes[id].children; }
  name(id) { return this.tree.nodes[id].name; }
  isMax(id) { return this.tree.isMax(id); }
  key(id) { return this.#positions[id]; }
  isEstimate(id) { return !this.tree.isLeaf(id); }
  isExact(id, depth) { return depth <= 0 || this.tree.isLeaf(id); }

  /** Returns the value or estimate of a node from the side to move's point of view. */
  value(id) {
    return this.isMax(id) ? this.#estimates[id] : -this.#estimates[id];
  }
}

/** Numbers the positions. Nodes are the same position if the same player is to move and the same positions follow. */
function numbered(tree) {
  const known = new Map(), positions = [];
  for (let id = tree.length - 1; id >= 0; id--) {
    const { value, children } = tree.nodes[id];
    const below = children.map(child => positions[child]).sort((one, two) => one - two);
    const position = JSON.stringify([tree.isMax(id), value, below]);
    if (!known.has(position)) known.set(position, known.size);
    positions[id] = known.get(position);
  }
  return positions;
}

/** Returns the mean of the leaves below each node, rounded towards zero. */
function estimates(tree) {
  const below = tree.nodes.map(({ value }) => value === null ? [0, 0] : [value, 1]);
  for (let id = tree.length - 1; id > 0; id--) {
    const { parent } = tree.nodes[id];
    for (const part of [0, 1]) below[parent][part] += below[id][part];
  }
  return below.map(([sum, count]) => Math.trunc(sum / count));
}
