// The repertoire as a layer on the moves and the board, its gaps, and additions to its file.

import { byId, grouped, make, score } from "./dom.js";
import { ask } from "./server.js";
import { nested, numbered, plyOf, treeOf } from "./variations.js";

const MARKS = {
  own: ["●", "your move"], back: ["↩", "leads back to your repertoire"],
  answered: ["✓", "you have an answer"], open: ["!", "you have no answer"],
};
/** How the most common line to a gap leaves the repertoire. */
const KINDS = { reply: "you answer other replies", end: "your line ends before it", "dead end": "your line ends with it" };
/** Number of gaps in the list. */
const LISTED = 30;
const SHAPE = /^([GRYB]?)([a-h][1-8])([a-h][1-8])?$/i;

/** Parses arrows and squares such as `e2e4` and `Rd5`; green is the default. Returns `null` if a word is neither. */
function readShapes(text) {
  const words = text.split(/[\s,]+/).filter(Boolean).map(word => SHAPE.exec(word));
  if (words.includes(null)) return null;
  return words.map(([, color, from, to]) => (color || "G").toUpperCase() + from.toLowerCase() + (to ?? "").toLowerCase());
}

const drawn = shape => ({ from: shape.slice(1, 3), to: shape.slice(3) || null, kind: `note-${shape[0]}` });

const sameFen = (one, other) => one.split(" ").slice(0, 4).join(" ") === other.split(" ").slice(0, 4).join(" ");

export class Repertoire {
  #page; #layer = null; #fen = ""; #query = ""; #gaps = null; #gap = -1; #fault = ""; #loads = 0; #isNew = true;

  /**
   * `page` has `go` (shows a start position and a line), `play` (plays moves), `place` (the query of a line),
   * `line` (the moves on the board), `draw` (draws shapes on the board), `turn` (shows Black's side), and `marked` (called when the
   * rows of the moves have changed).
   */
  constructor(page) {
    this.#page = page;
    byId("gap-next").addEventListener("click", () => this.step(1));
    byId("gap-previous").addEventListener("click", () => this.step(-1));
    byId("repertoire-shapes").addEventListener("input", () => this.#draw());
    byId("repertoire-add").addEventListener("submit", event => {
      event.preventDefault();
      this.#addLine();
    });
    this.#listenForArrows();
  }

  /** Shows the panel. */
  open() { byId("repertoire").hidden = false; }

  get isOpen() { return !byId("repertoire").hidden; }

  /** Moves the focus to the comment of the last move. */
  focus() {
    if (this.isOpen && !byId("repertoire-submit").disabled) byId("repertoire-comment").focus();
  }

  /** Requests the repertoire's data for a position. */
  async load(query) {
    if (!this.isOpen) return;
    const number = ++this.#loads;
    const [layer, fault] = await ask(`repertoire${query && "?"}${query}`).then(layer => [layer, layer.fault ?? ""], error => [null, error.message]);
    if (number === this.#loads) [this.#layer, this.#query, this.#fault] = [layer, query, fault];
  }

  /** Shows the layer of the position loaded last. Called after the moves have been shown. */
  show(fen) {
    if (!this.isOpen) return;
    if (this.#fen !== fen) {
      byId("repertoire-comment").value = byId("repertoire-shapes").value = "";
      byId("repertoire-said").textContent = "";
    }
    this.#fen = fen;
    if (this.#fault) byId("repertoire-said").textContent = this.#fault;
    if (this.#isNew && this.#layer?.side === "black") this.#page.turn();
    this.#isNew = this.#isNew && !this.#layer;
    this.#showLayer();
    if (this.#layer && this.#gaps?.version !== this.#layer.version) this.#loadGaps();
    else this.#showGap();
  }

  #showLayer() {
    document.querySelectorAll("#moves .of-repertoire").forEach(element => element.remove());
    const layer = this.#layer;
    this.#draw();
    byId("repertoire-here").replaceChildren();
    byId("repertoire-submit").disabled = !layer || this.#page.line().length === 0;
    if (!layer) return;
    byId("repertoire-file").textContent = `${layer.file}, ${layer.side}: ${grouped(layer.chapters)} ${layer.chapters === 1 ? "chapter" : "chapters"}, ${grouped(layer.positions)} positions`;
    const last = this.#page.line().at(-1)?.san;
    byId("repertoire-submit").textContent = !last ? "Add to repertoire" : layer.missing === 0 ? `Add comment on ${last}` : layer.missing === 1 ? `Add ${last}` : `Add ${layer.missing} moves to ${last}`;
    byId("repertoire-here").append(
      ...layer.comments.map(text => make("p", {}, text)),
      layer.tree.length > 0 ? treeOf(nested(layer.tree).children, plyOf(this.#fen), { pick: path => this.#page.play(path.map(move => move.uci)) }) : make("p", { class: "note" }, layer.known ? "The line ends here." : "This position is not in the repertoire."),
      layer.truncated ? make("p", { class: "note" }, "Later moves are left out.") : "");
    this.#markRows();
  }

  #markRows() {
    const kinds = new Map(this.#layer.moves.map(move => [move.uci, move.kind]));
    for (const row of document.querySelectorAll("#moves tr[data-uci]")) {
      const { uci } = row.dataset;
      const isGap = this.#layer.known && !this.#layer.ownTurn;
      const kind = kinds.get(uci) ?? (isGap ? "open" : null);
      const cell = row.firstElementChild;
      const san = cell.textContent;
      if (kind) cell.append(make("span", { class: `of-repertoire mark ${kind}`, role: "img", "aria-label": MARKS[kind][1], title: MARKS[kind][1] }, MARKS[kind][0]));
      if (this.#layer.ownTurn && kind !== "own") {
        const add = event => { event.stopPropagation(); this.#add(this.#page.place([...this.#page.line().map(move => move.uci), uci])); };
        cell.append(make("button", { type: "button", class: "of-repertoire add", "aria-label": `Add ${san} to the repertoire`, title: `Add ${san} to the repertoire`, onclick: add }, "+"));
      }
    }
    this.#page.marked();
  }

  /** Draws the moves of the repertoire, the shapes of its comments, and those in the form. */
  #draw() {
    const shapes = (this.#layer?.moves ?? []).map(({ uci, kind }) => ({ from: uci.slice(0, 2), to: uci.slice(2, 4), kind }));
    const own = readShapes(byId("repertoire-shapes").value) ?? [];
    this.#page.draw([...(this.#layer?.shapes ?? []).map(drawn), ...shapes, ...own.map(drawn)]);
  }

  /** Adds an arrow or a square to the form when it is drawn with the right mouse button. */
  #listenForArrows() {
    let from = null;
    const squareOf = event => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-square]")?.dataset.square;
    const board = byId("board");
    board.addEventListener("contextmenu", event => { if (this.isOpen) event.preventDefault(); });
    board.addEventListener("pointerdown", event => { from = event.button === 2 ? squareOf(event) : null; });
    board.addEventListener("pointerup", event => {
      const to = squareOf(event);
      if (event.button !== 2 || !this.isOpen || !from || !to) return;
      const field = byId("repertoire-shapes");
      field.value = `${field.value} ${from === to ? to : from + to}`.trim();
      this.#draw();
    });
  }

  async #addLine() {
    const shapes = readShapes(byId("repertoire-shapes").value);
    if (shapes === null) {
      byId("repertoire-said").textContent = "Write arrows as e2e4 and squares as d5, with G, R, Y or B before them for a colour.";
      return;
    }
    await this.#add(this.#query, byId("repertoire-comment").value, shapes);
  }

  async #add(query, comment = "", shapes = []) {
    const said = byId("repertoire-said");
    said.textContent = "Saving …";
    try {
      const body = JSON.stringify({ version: this.#layer.version, comment, shapes });
      const { added, written } = await ask(`repertoire/moves?${query}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      said.textContent = written ? `Saved${added > 0 ? `: ${added} new ${added === 1 ? "move" : "moves"}` : ""}. The previous file is ${this.#layer.file}.bak.` : "The repertoire already has this; nothing is written.";
      byId("repertoire-comment").value = byId("repertoire-shapes").value = "";
    } catch (error) {
      said.textContent = error.message;
    }
    await this.load(this.#page.place());
    this.#showLayer();
    this.#loadGaps();
  }

  async #loadGaps() {
    const visited = this.#gaps?.gaps[this.#gap]?.fen;
    if (!this.#gaps) byId("gap").textContent = "Looking for gaps …";
    try {
      this.#gaps = await ask("repertoire/gaps");
    } catch (error) {
      byId("gap").textContent = error.message;
      return;
    }
    // Continue after the gap that was visited last or, if it has been filled, with the one in its place.
    const at = this.#gaps.gaps.findIndex(gap => gap.fen === visited);
    this.#gap = at >= 0 ? at : Math.min(this.#gap, this.#gaps.gaps.length) - (this.#gap >= 0 ? 1 : 0);
    byId("gaps-list").replaceChildren(...this.#gaps.gaps.slice(0, LISTED).map((gap, index) => make("li", {},
      make("button", { type: "button", onclick: () => this.#visit(index) }, make("span", {}, `${(100 * gap.probability).toFixed(1)}%`), make("span", {}, numbered(gap.line, gap.start))))));
    byId("gaps").hidden = this.#gaps.total === 0;
    byId("gaps-title").textContent = `Gaps: ${grouped(this.#gaps.total)}${this.#gaps.total > LISTED ? `, the ${LISTED} largest` : ""}`;
    this.#showGap();
  }

  /** Shows the next or previous gap. The gaps are ordered by size, starting with the largest. */
  step(by) {
    const count = this.#gaps?.gaps.length ?? 0;
    if (count > 0) this.#visit((Math.max(this.#gap + by, by < 0 && this.#gap < 1 ? count - 1 : 0)) % count);
  }

  #visit(index) {
    this.#gap = index;
    const { start, line } = this.#gaps.gaps[index];
    this.#page.go(start, line.map(move => move.uci));
  }

  #showGap() {
    const gaps = this.#gaps?.gaps ?? [];
    for (const id of ["gap-next", "gap-previous"]) byId(id).disabled = gaps.length === 0;
    const index = gaps.findIndex(gap => sameFen(gap.fen, this.#fen));
    const place = byId("gap");
    if (index < 0) {
      const shares = (this.#gaps?.shares ?? []).map(({ plies, share }) => `${Math.round(100 * share)}% after ${plies} plies`).join(", ");
      place.replaceChildren(!this.#gaps ? "" : gaps.length === 0 ? "No gaps: you have an answer to every usual reply." : `Games still in the repertoire: ${shares}.`);
      return;
    }
    this.#gap = index;
    const { probability, games, kind, opening, waysBack, proposal } = gaps[index];
    const words = `Gap ${index + 1} of ${grouped(this.#gaps.total)}: ${(100 * probability).toFixed(1)}% of your games (${KINDS[kind]}; ${grouped(games)} ${games === 1 ? "game" : "games"}${opening ? `; ${opening.name}` : ""}). `;
    const why = proposal && (proposal.score ? `best: ${score(proposal.score)}` : `most played: ${grouped(proposal.games)} ${proposal.games === 1 ? "game" : "games"}`);
    const offers = [...(proposal ? [[proposal, why]] : []), ...waysBack.filter(move => move.uci !== proposal?.uci).map(move => [move, "leads back"])];
    place.replaceChildren(words, ...offers.map(([move, reason]) => make("button", { type: "button", class: "offer", onclick: () => this.#add(this.#page.place([...this.#page.line().map(played => played.uci), move.uci])) }, `Add ${move.san} (${reason})`)));
  }
}
