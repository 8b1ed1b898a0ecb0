// The page of the lessons, which contains a laboratory that searches a tree, exercises, or recorded searches
// of a position.

import { SPLITTING, watchSplitting } from "./clock.js";
import { byId, grouped, make } from "./dom.js";
import { Editor } from "./editor.js";
import { ordered } from "./growth.js";
import { Pane } from "./pane.js";
import { unsearched, written } from "./picture.js";
import { Quiz } from "./quiz.js";
import { METHODS, watch } from "./story.js";
import { wireTheme } from "./theme.js";
import { GameTree } from "./tree.js";

const data = JSON.parse(byId("data").textContent);
/** Minimum window width in pixels for two searches side by side. */
const ROOM_FOR_TWO = 1000;
const NONE = "";
const TITLES = { "pvs": "PVS", "minimax": "Minimax", "alpha-beta": "Alpha-beta" };
const titled = name => name.replace(/^(pvs|minimax|alpha-beta)/, word => TITLES[word]).replace(SPLITTING, "PV-splitting");

const shortened = name => titled(name).replace(" with ", " + ").replace(" and ", " + ");

/** Steps through one or two panes at the same time. */
class Stepper {
  step = 0; #panes = [];

  constructor() {
    const moves = { first: () => 0, back: () => this.step - 1, next: () => this.step + 1, last: () => this.#last };
    for (const [id, to] of Object.entries(moves)) byId(id).addEventListener("click", () => this.go(to()));
    byId("slider").addEventListener("input", event => this.go(Number(event.target.value)));
    document.addEventListener("keydown", event => {
      const to = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
      const isIgnored = event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || ["SELECT", "INPUT", "TEXTAREA"].includes(event.target.tagName);
      if (!to || isIgnored || byId("laboratory").hidden) return;
      event.preventDefault();
      this.go(moves[to]());
    });
  }

  get #last() { return Math.max(...this.#panes.map(pane => pane.length)); }

  take(panes, step) {
    this.#panes = panes;
    byId("slider").max = this.#last;
    this.go(step);
  }

  go(step) {
    this.step = Math.max(0, Math.min(this.#last, step));
    byId("slider").value = this.step;
    byId("step-said").textContent = `${this.step} / ${this.#last}`;
    for (const id of ["first", "back"]) byId(id).disabled = this.step === 0;
    for (const id of ["next", "last"]) byId(id).disabled = this.step === this.#last;
    for (const pane of this.#panes) pane.go(this.step);
  }
}

/** A tree that the user can edit and search. */
class Laboratory {
  #base; #tree; #order = 0; #chosen; #history = []; #records = new Map(); #threads; #methods; #panes; #editor; #stepper = new Stepper();

  constructor() {
    const names = [...METHODS.map(method => method.name), SPLITTING].map(name => [name, titled(name)]);
    this.#panes = ["First search", "Second search"].map((label, at) => new Pane(label, at === 0 ? names : [[NONE, "No second search"], ...names], {
      onMethod: name => { this.#methods[at] = name; this.#show(); },
      onChoose: name => this.#choose(name),
      onStep: step => this.#stepper.go(step),
    }));
    byId("panes").append(...this.#panes.map(pane => pane.root));
    const wanted = data.methods.slice(-2);
    this.#methods = wanted.length > 1 && innerWidth < ROOM_FOR_TWO ? [wanted[1], NONE] : [wanted[0], wanted[1] ?? NONE];
    this.#threads = data.threads ?? 2;
    byId("threads").value = this.#threads;
    byId("threads").addEventListener("change", event => {
      this.#threads = Math.max(1, Math.min(Number(event.target.max), Math.round(Number(event.target.value)) || 1));
      this.#search();
    });
    this.#editor = new Editor({
      onTree: (tree, chosen) => this.take(tree, chosen), onChoose: () => {},
      onOrder: order => { this.#order = order; this.#search(); }, onUndo: () => this.#undo(),
    });
    byId("shipped").addEventListener("click", () => this.take(GameTree.parse(data.classic)));
    this.#base = GameTree.parse(data.tree);
    this.#chosen = this.#base.nodes[0].name;
    this.#search();
  }

  /** Sets another tree. The user can undo this. */
  take(tree, chosen = tree.nodes[0].name) {
    this.#history.push([this.#base, this.#order, this.#chosen]);
    [this.#base, this.#order, this.#chosen] = [tree, 0, chosen];
    this.#search();
  }

  /** Shows a search of a tree from the first step. */
  watch(tree, method) {
    this.#methods = [method, NONE];
    this.take(tree);
  }

  repaint() { this.#stepper.go(this.#stepper.step); }

  #undo() {
    [this.#base, this.#order, this.#chosen] = this.#history.pop();
    this.#search();
  }

  #choose(name) {
    this.#chosen = name;
    for (const pane of this.#shown()) pane.choose(name);
    this.#edit();
  }

  #edit() { this.#editor.show(this.#tree, this.#chosen, this.#order, this.#history.length > 0); }

  #search() {
    this.#tree = this.#order === 0 ? this.#base : ordered(this.#base, this.#order, this.#editor.seed);
    this.#records = new Map(METHODS.map(method => [method.name, watch(this.#tree, method)]));
    this.#records.set(SPLITTING, watchSplitting(this.#tree, this.#threads));
    this.#compare();
    this.#show();
    this.#edit();
  }

  #shown() { return this.#panes.filter((_, at) => this.#methods[at] !== NONE); }

  #show() {
    const values = new Map(this.#tree.nodes.filter(node => node.value !== null).map(node => [node.name, node.value]));
    this.#panes.forEach((pane, at) => {
      const record = this.#records.get(this.#methods[at]);
      pane.root.classList.toggle("empty", !record);
      if (record) pane.take(record, this.#chosen, values, record.tree ? record : unsearched(this.#tree));
    });
    byId("panes").classList.toggle("two", this.#methods[1] !== NONE);
    byId("threads-field").hidden = !this.#methods.includes(SPLITTING);
    this.#stepper.take(this.#shown(), 1);
  }

  #compare() {
    const { value } = this.#records.get("minimax");
    byId("all-value").textContent = `All searches return ${written(String(value))}.`;
    const cell = value => make("td", { class: "right" }, value === null ? "–" : grouped(value));
    byId("all").replaceChildren(...[...this.#records.values()].map(record => make("tr", {},
      make("th", { scope: "row" }, make("button", { type: "button", class: "plain", onclick: () => { this.#methods[0] = record.algorithm; this.#show(); } }, shortened(record.algorithm))),
      ...[record.nodes, record.distinct, record.cutoffs, record.researches, record.hits].map(cell), cell(record.timeline?.ticks ?? record.nodes))));
  }
}

/** Shows searches recorded by the program, without editing. */
function showRecorded() {
  document.body.classList.add("recorded");
  for (const id of ["tree-panel", "all-panel", "views", "threads-field"]) byId(id).hidden = true;
  const stepper = new Stepper(), records = data.searches;
  // The same move can occur in many positions, so a node's key consists of all moves that lead to the node.
  for (const { tree } of records) for (const node of tree) node.key = `${node.parent === null ? "" : `${tree[node.parent].key} `}${node.name}`;
  const pane = new Pane("Search", records.map(({ algorithm }) => [algorithm, titled(algorithm)]), {
    onMethod: name => take(records.find(record => record.algorithm === name)),
    onChoose: key => pane.choose(key),
    onStep: step => stepper.go(step),
  });
  const take = record => { pane.take(record, record.tree[0]?.key, null); stepper.take([pane], 1); };
  byId("panes").append(pane.root);
  take(records.at(-1));
  return { repaint: () => stepper.go(stepper.step) };
}

/** Makes the buttons switch between views. Returns the function that shows a view. */
function connectViews(views) {
  const show = name => {
    for (const [other, { tab, panel }] of Object.entries(views)) {
      byId(panel).hidden = other !== name;
      byId(tab).setAttribute("aria-pressed", String(other === name));
    }
    views[name].show();
  };
  for (const [name, { tab }] of Object.entries(views)) byId(tab).addEventListener("click", () => show(name));
  return show;
}

byId("title").textContent = document.title = data.title;
wireTheme(byId("theme"));
if (data.searches) {
  const recorded = showRecorded();
  addEventListener("resize", () => recorded.repaint());
} else {
  const laboratory = new Laboratory();
  const quiz = new Quiz((tree, method) => { show("laboratory"); laboratory.watch(tree, method); });
  const show = connectViews({
    laboratory: { tab: "to-laboratory", panel: "laboratory", show: () => laboratory.repaint() },
    exercises: { tab: "to-exercises", panel: "exercises", show: () => quiz.show() },
  });
  addEventListener("resize", () => byId("laboratory").hidden ? quiz.paint() : laboratory.repaint());
}
