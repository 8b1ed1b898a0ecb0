// A pane that shows one search: the current step, the tree, the windows and a list of all steps.

import { Board } from "./board.js";
import { SPLITTING, clockPicture } from "./clock.js";
import { byId, make } from "./dom.js";
import { TreePicture, greek, keyOf, written } from "./picture.js";
import { windowsPicture } from "./windows.js";

/** Maximum number of nodes in a drawn tree. Larger trees can be searched and compared in the table. */
export const MAX_DRAWN = 1500;

const CLOCK_KEY = [["split", "splits a node"], ["first", "first moves"], ["null", "null window"], ["again", "again, open window"], ["stopped", "stopped by a cutoff"]];
/** Counts, each with its label in singular and plural. */
const COUNTS = [["visits", "visit", "visits"], ["nodes", "node", "nodes"], ["cutoffs", "cutoff", "cutoffs"], ["again", "searched again", "searched again"], ["hits", "table hit", "table hits"]];
const TICKS = [["visits", "tick", "ticks"]];

/** Shows search records. Calls `onMethod` with the name of a selected search, `onChoose` with the key of a node, and `onStep` with a step. */
export class Pane {
  root; #select; #now; #counts; #windows; #picture; #clock; #list; #summary; #place; #board = null; #items = [];
  #record = null; #step = 0; #picked = null; #onChoose;

  constructor(label, names, { onMethod, onChoose, onStep }) {
    this.#onChoose = onChoose;
    this.#select = make("select", { "aria-label": label, onchange: event => onMethod(event.target.value) }, ...names.map(([value, text]) => make("option", { value }, text)));
    this.#now = make("p", { class: "said", role: "status" });
    this.#counts = make("dl", { class: "counts" });
    this.#windows = make("div", { class: "line" });
    this.#picture = new TreePicture(key => onChoose(key));
    this.#clock = make("div");
    this.#place = make("div", { class: "place", hidden: true });
    this.#summary = make("p", { class: "note summary" });
    this.#list = make("ol", { class: "story", tabindex: "0", "aria-label": `${label}: steps` });
    this.#list.addEventListener("click", event => {
      const at = this.#items.indexOf(event.target.closest("li"));
      if (at >= 0) onStep(at + 1);
    });
    const fold = make("button", { type: "button", onclick: () => this.#fold() }, "Fold");
    const unfold = make("button", { type: "button", onclick: () => { this.#picture.unfold(); this.paint(); } }, "Unfold all");
    this.root = make("section", { class: "panel pane", "aria-label": label },
      make("div", { class: "pane-head" }, this.#select, make("span", { class: "tools" }, fold, unfold)),
      this.#now, this.#counts, this.#clock, this.#picture.root, this.#windows, this.#summary,
      make("div", { class: "foot" }, this.#place, make("details", { open: true }, make("summary", {}, "All steps"), this.#list)));
  }

  get #room() { return this.#now.clientWidth; }

  get length() { return this.#record.steps.length; }

  /** Shows another record. The picture shows `drawn`, which is the record itself by default. */
  take(record, chosen, values, drawn = record) {
    this.#record = { ...record, chosen, values, drawn };
    this.#select.value = record.algorithm;
    this.#items = record.steps.map(({ kind, text, node }) => make("li", { class: kind }, "  ".repeat(node === undefined ? 0 : record.tree[node].ply) + written(text)));
    this.#list.replaceChildren(...this.#items);
    this.#picture.take(drawn);
    this.#summary.textContent = written(record.summary) + (record.hidden ? ` (${record.hidden} visits not shown)` : "");
  }

  /** Shows a step, or the last step if there are fewer. */
  go(step) {
    this.#step = Math.min(step, this.length);
    this.#picked = null;
    this.paint();
  }

  choose(key) {
    this.#record.chosen = this.#picked = key;
    this.paint();
  }

  paint() {
    const { steps, chosen, values, drawn, algorithm } = this.#record, at = steps[this.#step - 1];
    this.#now.textContent = at ? greek(at.text) : "Before the search";
    const isClock = algorithm === SPLITTING;
    this.#clock.replaceChildren(...isClock ? [clockPicture(this.#record, this.#step, this.#room), make("p", { class: "note clock-key" }, ...CLOCK_KEY.flatMap(([kind, text]) => [make("span", { class: `swatch ${kind}` }), ` ${text} `]))] : []);
    if (drawn.tree.length <= MAX_DRAWN) {
      const counts = this.#picture.paint(isClock ? 0 : this.#step, chosen, values);
      this.#count(isClock ? { visits: at?.span.end ?? 0 } : counts);
    } else {
      this.#picture.root.replaceChildren(make("p", { class: "note" }, `The tree has ${drawn.tree.length} nodes; trees of more than ${MAX_DRAWN} are not drawn.`));
    }
    const line = isClock ? null : windowsPicture(this.#record, this.#step, this.#room);
    this.#windows.replaceChildren(...line ? [line] : []);
    this.#showPlace(at);
    this.#mark();
  }

  #count(counts) {
    const shown = this.#record.algorithm === SPLITTING ? TICKS : COUNTS;
    this.#counts.replaceChildren(...shown.filter(([key]) => counts[key] > 0 || key === "visits").map(([key, one, many]) => make("div", {}, make("dd", {}, counts[key]), make("dt", {}, counts[key] === 1 ? one : many))));
  }

  /** Shows the position of the node that was selected since the last step, or else of the current node. */
  #showPlace(at) {
    const { tree } = this.#record;
    const node = tree?.find(one => keyOf(one) === this.#picked) ?? tree?.[at?.node ?? 0];
    this.#place.hidden = !node?.fen;
    if (!node?.fen) return;
    if (!this.#board) {
      const root = make("div");
      this.#board = new Board(root, () => {});
      this.#place.append(root, make("p", { class: "note", id: "place-name" }));
    }
    this.#board.show({ fen: node.fen, legal: [], last: "", check: false });
    byId("place-name").textContent = `Position of ${node.name}`;
  }

  #mark() {
    this.#items.forEach((item, index) => {
      item.classList.toggle("later", index >= this.#step);
      item.classList.toggle("now", index === this.#step - 1);
    });
    const item = this.#items[this.#step - 1];
    this.#list.scrollTop = item ? item.offsetTop - this.#list.clientHeight / 2 : 0;
  }

  #fold() {
    if (this.#record.chosen) this.#picture.fold(this.#record.chosen);
    this.paint();
    this.#onChoose(this.#record.chosen);
  }
}
