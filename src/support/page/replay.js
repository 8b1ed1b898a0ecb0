// A game viewer: board, moves and a chart.

import { Board, FILES, piecesOf } from "./board.js";
import { make } from "./dom.js";

const STEPS = [["first", "«", "To the start"], ["back", "‹", "One move back"], ["next", "›", "One move forward"], ["last", "»", "To the end"]];

/** Returns the pieces after a legal move in UCI notation. */
export function after(pieces, move) {
  const next = new Map(pieces);
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const letter = next.get(from);
  const kind = letter.toLowerCase();
  if (kind === "p" && from[0] !== to[0] && !next.has(to)) next.delete(to[0] + from[1]);
  if (kind === "k" && Math.abs(FILES.indexOf(from[0]) - FILES.indexOf(to[0])) === 2) {
    const [corner, beside] = to[0] === "g" ? ["h", "f"] : ["a", "d"];
    next.set(beside + to[1], next.get(corner + to[1]));
    next.delete(corner + to[1]);
  }
  next.delete(from);
  const promoted = move[4] && (letter === kind ? move[4] : move[4].toUpperCase());
  next.set(to, promoted ?? letter);
  return next;
}

/**
 * Shows games in a root element. A game has `fen`, `moves` in UCI notation and `san`. Its function `said`
 * returns the comment on the position after a ply, as strings or elements. Three functions are optional:
 * `kind` returns the class of a move, `more` returns the elements after a move, and `curve` returns the
 * game's `Curve`. The argument of `curve` is a function that shows a ply.
 */
export class Replay {
  #board; #moves; #said; #head; #chart; #buttons = []; #game; #positions = []; #links = []; #ply = 0; #curve = null;

  constructor(root) {
    const board = make("div");
    this.#board = new Board(board, () => {});
    const steps = STEPS.map(([name, sign, label]) => make("button", { type: "button", "aria-label": label, onclick: () => this.#step(name) }, sign));
    steps.push(make("button", { type: "button", "aria-label": "Turn the board", onclick: () => this.#board.flip() }, "⇅"));
    this.#head = make("div", { class: "replay-head" });
    this.#chart = make("div");
    this.#said = make("p", { class: "replay-said", role: "status" });
    this.#moves = make("ol", { class: "replay-moves", "aria-label": "Moves" });
    root.classList.add("replay");
    root.append(
      make("div", { class: "replay-place" }, board, make("div", { class: "steps", role: "group", "aria-label": "Navigate the moves" }, ...steps)),
      make("div", { class: "replay-story" }, this.#head, this.#chart, this.#said, this.#moves));
    document.addEventListener("keydown", event => this.#key(event));
  }

  get ply() { return this.#ply; }

  show(game, head) {
    this.#game = game;
    this.#positions = [piecesOf(game.fen)];
    for (const move of game.moves) this.#positions.push(after(this.#positions.at(-1), move));
    this.#head.replaceChildren(...head);
    this.#links = [];
    this.#moves.replaceChildren(...game.san.flatMap((san, at) => this.#entry(san, at)));
    this.#curve = game.curve?.(ply => this.go(ply)) ?? null;
    this.#chart.replaceChildren(...this.#curve ? [this.#curve.svg] : []);
  }

  /** Shows the position after `ply` plies. */
  go(ply) {
    this.#ply = Math.max(0, Math.min(this.#game.moves.length, ply));
    const last = this.#ply > 0 ? this.#game.moves[this.#ply - 1] : "";
    const check = this.#ply > 0 && /[+#]/.test(this.#game.san[this.#ply - 1]);
    this.#board.show({ pieces: this.#positions[this.#ply], turn: this.#isWhite(this.#ply) ? "white" : "black", legal: [], last, check });
    this.#links.forEach((link, at) => at === this.#ply - 1 ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current"));
    const link = this.#links[this.#ply - 1];
    this.#moves.scrollTop = link ? link.offsetTop - this.#moves.offsetTop - this.#moves.clientHeight / 2 : 0;
    this.#said.replaceChildren(...this.#game.said(this.#ply));
    this.#curve?.point(this.#ply);
  }

  #isWhite(ply) {
    return (this.#game.fen.split(" ")[1] === "w") === (ply % 2 === 0);
  }

  /** Returns the list item of a move. White's moves and the first move have a move number. */
  #entry(san, at) {
    const [, turn, , , , first] = this.#game.fen.split(" ");
    const half = at + (turn === "b" ? 1 : 0);
    const number = Number(first) + (half >> 1);
    const link = make("button", { type: "button", class: this.#game.kind?.(at) ?? null, onclick: () => this.go(at + 1) }, san);
    this.#links.push(link);
    const before = half % 2 === 0 ? `${number}.` : at === 0 ? `${number}…` : null;
    return [make("li", {}, before ? make("span", { class: "number" }, before) : null, link, ...this.#game.more?.(at) ?? [])];
  }

  #step(name) {
    this.go({ first: 0, back: this.#ply - 1, next: this.#ply + 1, last: this.#game.moves.length }[name]);
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || ["SELECT", "INPUT", "TEXTAREA"].includes(event.target.tagName)) return;
    const name = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (event.key === "f") this.#board.flip();
    else if (name && this.#game) this.#step(name);
    else return;
    event.preventDefault();
  }
}
