// The tree editor: changes single nodes, the text of the tree or the move order, and creates random trees.

import { byId } from "./dom.js";
import { SMALL, grow } from "./growth.js";
import { GameTree, MAX_VALUE, TreeError } from "./tree.js";

/** Maximum number of nodes in a random tree. Every change searches the whole tree with all methods. */
const LARGEST = 3000;
const MAX_SEED = (1n << 64n) - 1n;

/** The panel. Calls `onTree` with a new tree, `onOrder` with a move order, and `onUndo` to revert the last change. */
export class Editor {
  #tree = null; #chosen = null; #onTree; #onChoose;

  constructor({ onTree, onChoose, onOrder, onUndo }) {
    this.#onTree = onTree;
    this.#onChoose = onChoose;
    const on = (id, act, event = "click") => byId(id).addEventListener(event, act);
    on("add", () => this.#change(this.#tree.withChild(this.#at)));
    on("remove", () => this.#remove());
    on("earlier", () => this.#change(this.#tree.withMoved(this.#at, -1)));
    on("later", () => this.#change(this.#tree.withMoved(this.#at, 1)));
    on("value", () => this.#setValue(), "change");
    on("undo", onUndo);
    on("order", event => onOrder(Number(event.target.value)), "input");
    on("use", () => this.#useText());
    on("copy", () => this.#copy());
    on("grow", () => this.#grow());
    on("another", () => { byId("seed").value = String((this.#seed + 1n) & MAX_SEED); this.#grow(); });
  }

  get #at() { return this.#tree.find(this.#chosen); }

  /** Returns the entered seed, or the default if that is invalid. */
  get #seed() {
    const text = byId("seed").value.trim();
    return /^\d{1,20}$/.test(text) && BigInt(text) <= MAX_SEED ? BigInt(text) : SMALL.seed;
  }

  get seed() { return this.#seed; }

  show(tree, chosen, order, canUndo) {
    [this.#tree, this.#chosen] = [tree, chosen];
    const at = this.#at, { name, parent, value } = tree.nodes[at];
    byId("chosen").textContent = `${name}, ${tree.isMax(at) ? "Max" : "Min"}${value === null ? "" : ", a leaf"}`;
    byId("value").disabled = value === null;
    byId("value").value = value ?? "";
    byId("remove").disabled = parent === null;
    byId("add").disabled = !tree.canGrow(at);
    byId("earlier").disabled = !tree.canMove(at, -1);
    byId("later").disabled = !tree.canMove(at, 1);
    byId("undo").disabled = !canUndo;
    byId("text").value = tree.toString();
    byId("order").value = order;
    byId("order-said").textContent = { 0: "unchanged", 100: "best first", "-100": "worst first" }[order] ?? `${Math.abs(order)}% ${order > 0 ? "best" : "worst"} first`;
    this.#showMessage("");
  }

  #showMessage(fault) { byId("fault").textContent = fault; }

  #change(tree, chosen = this.#chosen) {
    this.#chosen = chosen;
    this.#onTree(tree, chosen);
  }

  #remove() {
    const { parent } = this.#tree.nodes[this.#at];
    this.#change(this.#tree.without(this.#at), this.#tree.nodes[parent].name);
  }

  #setValue() {
    const text = byId("value").value.trim(), value = Number(text);
    if (!/^[+-]?\d+$/.test(text) || Math.abs(value) > MAX_VALUE) this.#showMessage(`Enter a whole number between −${MAX_VALUE} and ${MAX_VALUE}.`);
    else this.#change(this.#tree.withValue(this.#at, value));
  }

  #useText() {
    try {
      const tree = GameTree.parse(byId("text").value);
      this.#change(tree, tree.nodes[0].name);
    } catch (error) {
      if (!(error instanceof TreeError)) throw error;
      this.#showMessage(error.message);
    }
  }

  async #copy() {
    byId("text").select();
    try {
      await navigator.clipboard.writeText(byId("text").value);
      this.#showMessage("Copied.");
    } catch {
      this.#showMessage("The browser denies access to the clipboard. The text is selected: copy it with the keyboard.");
    }
  }

  #grow() {
    const number = id => Math.max(Number(byId(id).min), Math.min(Number(byId(id).max), Math.round(Number(byId(id).value)) || 0));
    const growth = { ...SMALL, seed: this.#seed, depth: number("depth"), branching: number("branching"), spread: number("spread"), copies: number("copies"), uneven: byId("uneven").checked, maxBegins: !byId("min").checked };
    let [level, nodes] = [1, 1];
    for (let depth = 0; depth < growth.depth; depth++) nodes += level *= growth.branching;
    if (nodes > LARGEST) {
      this.#showMessage(`This tree may have ${nodes} nodes, more than ${LARGEST}. Reduce depth or branching, or use “tabia lesson forest”.`);
      return;
    }
    const tree = grow(growth);
    this.#onChoose(null);
    this.#change(tree, tree.nodes[0].name);
  }
}
