// A chessboard for mouse, touch and keyboard. It does not check the rules: the caller passes the legal moves
// and receives the move that the user makes.

import { draw, make } from "./dom.js";
import { NAMES, piece } from "./pieces.js";

export const FILES = "abcdefgh";
/** Distance in pixels after which a click becomes a drag. */
const DRAG_FROM = 4;
const PROMOTIONS = ["q", "n", "r", "b"];

/** Returns the pieces of a FEN as a map from squares to letters. */
export function piecesOf(fen) {
  const pieces = new Map();
  fen.split(" ")[0].split("/").forEach((rank, row) => {
    let file = 0;
    for (const letter of rank) {
      if (/\d/.test(letter)) file += Number(letter);
      else pieces.set(FILES[file++] + (8 - row), letter);
    }
  });
  return pieces;
}

export class Board {
  #root; #squares = new Map(); #pieces = new Map(); #legal = []; #turn = "white";
  #chosen = null; #flipped = false; #focus = "e2"; #drag = null; #onMove; #state = null; #shapes = [];
  /** Whether arrow keys select squares: true after the board gets keyboard focus, until the next click. */
  #walks = false;

  constructor(root, onMove) {
    this.#root = root;
    this.#onMove = onMove;
    root.classList.add("board");
    root.setAttribute("role", "grid");
    root.setAttribute("aria-label", "Chessboard");
    this.#layOut();
    root.addEventListener("pointerdown", event => this.#onPointerDown(event));
    root.addEventListener("pointermove", event => this.#onPointerMove(event));
    root.addEventListener("pointerup", event => this.#onPointerUp(event));
    root.addEventListener("pointercancel", () => this.#cancelDrag());
    root.addEventListener("keydown", event => this.#onKey(event));
    root.addEventListener("focusin", event => {
      const name = event.target.dataset?.square;
      if (name) this.#focusOn(name, false);
      if (event.target.matches(":focus-visible")) this.#walks = true;
    });
  }

  get flipped() { return this.#flipped; }

  flip(flipped = !this.#flipped) {
    this.#flipped = flipped;
    this.#layOut();
    if (this.#state) this.show(this.#state);
  }

  /** Allows no move until the next position is shown. */
  forbid() {
    if (this.#state) this.show({ ...this.#state, legal: [] });
  }

  /**
   * Shows a position. `state` contains the position, either as `fen` or as `pieces` (by square) and `turn`.
   * It also contains the legal moves (`legal`) and the last move (`last`) in UCI notation, and `check`, which
   * is true if the side to move is in check.
   */
  show(state) {
    this.#state = state;
    this.hint(null);
    this.#pieces = state.pieces ?? piecesOf(state.fen);
    this.#turn = state.turn ?? (state.fen.split(" ")[1] === "w" ? "white" : "black");
    this.#legal = state.legal;
    this.#chosen = null;
    this.#root.querySelector(".promotion")?.remove();
    this.#cancelDrag();
    this.#paint();
  }

  /** Highlights the squares of a move, or none if the move is `null`. */
  hint(uci) {
    for (const [name, square] of this.#squares) {
      square.classList.toggle("hint", uci !== null && (uci.slice(0, 2) === name || uci.slice(2, 4) === name));
    }
  }

  /**
   * Draws arrows and marked squares. Each shape has `from`, `to` (`null` for a square), `kind` (a class) and
   * `opacity` (0 to 1).
   */
  draw(shapes) {
    this.#shapes = shapes;
    this.#root.querySelector(".shapes")?.remove();
    if (shapes.length > 0) this.#root.append(draw("svg", { class: "shapes", viewBox: "0 0 8 8", "aria-hidden": "true" }, ...shapes.map(shape => this.#shape(shape))));
  }

  #shape({ from, to, kind, opacity }) {
    const center = name => {
      const [column, row] = [FILES.indexOf(name[0]), 8 - Number(name[1])];
      return (this.#flipped ? [7 - column, 7 - row] : [column, row]).map(number => number + .5);
    };
    const [x, y] = center(from);
    if (to === null) return draw("circle", { class: kind, cx: x, cy: y, r: .42 });
    const [endX, endY] = center(to);
    const length = Math.hypot(endX - x, endY - y);
    // In a rotated coordinate system, the arrow points to the right.
    const angle = Math.atan2(endY - y, endX - x) * 180 / Math.PI;
    return draw("path", { class: kind, opacity, transform: `translate(${x} ${y}) rotate(${angle})`, d: `M.25-.07H${length - .4}V-.2L${length - .1} 0 ${length - .4} .2V.07H.25z` });
  }

  #layOut() {
    const ranks = this.#flipped ? "12345678" : "87654321";
    const files = this.#flipped ? [...FILES].reverse() : [...FILES];
    this.#squares.clear();
    this.#root.replaceChildren(...[...ranks].map((rank, row) => make("div", { role: "row", class: "rank" }, ...files.map((file, column) => {
      const name = file + rank;
      const shade = (FILES.indexOf(file) + Number(rank)) % 2 ? "dark" : "light";
      const square = make("div", { role: "gridcell", class: `square ${shade}`, "data-square": name, tabindex: "-1" },
        row === 7 ? make("span", { class: "mark file", "aria-hidden": "true" }, file) : null,
        column === 0 ? make("span", { class: "mark number", "aria-hidden": "true" }, rank) : null);
      this.#squares.set(name, square);
      return square;
    }))));
    this.#squares.get(this.#focus).tabIndex = 0;
    this.draw(this.#shapes);
  }

  #paint() {
    const last = this.#state.last ?? "";
    const king = this.#state.check ? (this.#turn === "white" ? "K" : "k") : null;
    const targets = new Set(this.#movesFrom(this.#chosen).map(move => move.slice(2, 4)));
    for (const [name, square] of this.#squares) {
      const letter = this.#pieces.get(name);
      square.querySelector(".piece")?.remove();
      if (letter) square.append(piece(letter));
      square.classList.toggle("last", last.slice(0, 2) === name || last.slice(2, 4) === name);
      square.classList.toggle("check", king !== null && letter === king);
      square.classList.toggle("chosen", name === this.#chosen);
      square.classList.toggle("target", targets.has(name));
      square.classList.toggle("taken", targets.has(name) && letter !== undefined);
      const what = letter ? `${letter === letter.toLowerCase() ? "black" : "white"} ${NAMES[letter.toLowerCase()]}` : "empty";
      const role = targets.has(name) ? ", legal target" : "";
      square.setAttribute("aria-label", `${name}, ${what}${role}`);
      square.setAttribute("aria-selected", String(name === this.#chosen));
    }
  }

  #movesFrom(square) {
    return square === null ? [] : this.#legal.filter(move => move.startsWith(square));
  }

  /** Returns the legal moves from the selected square to another one. A king moved onto its rook castles. */
  #movesTo(name) {
    const moves = this.#movesFrom(this.#chosen);
    const direct = moves.filter(move => move.slice(2, 4) === name);
    const [king, rook] = [this.#pieces.get(this.#chosen), this.#pieces.get(name)];
    if (direct.length > 0 || `${king}${rook}` !== (this.#turn === "white" ? "KR" : "kr") || name[1] !== this.#chosen[1]) return direct;
    const [from, to] = [this.#chosen, name].map(square => FILES.indexOf(square[0]));
    return moves.filter(move => move.slice(2, 4) === FILES[from + 2 * Math.sign(to - from)] + name[1]);
  }

  #choose(square) {
    this.#chosen = square;
    this.#paint();
  }

  /** Handles a click on a square: moves or selects a piece, or cancels the selection. */
  #activate(name) {
    const moves = this.#movesTo(name);
    if (moves.length > 0) this.#make(moves);
    else if (name !== this.#chosen && this.#movesFrom(name).length > 0) this.#choose(name);
    else this.#choose(null);
  }

  #make(moves) {
    if (moves.length === 1) {
      this.#choose(null);
      this.#onMove(moves[0]);
    } else {
      this.#askPromotion(moves);
    }
  }

  /** Shows the promotion dialog. */
  #askPromotion(moves) {
    const close = () => { box.remove(); this.#choose(null); this.#squares.get(this.#focus).focus(); };
    const buttons = PROMOTIONS.map(kind => {
      const move = moves.find(move => move[4] === kind);
      const letter = this.#turn === "white" ? kind.toUpperCase() : kind;
      return make("button", { type: "button", "aria-label": NAMES[kind], onclick: () => { close(); this.#onMove(move); } }, piece(letter));
    });
    const box = make("div", { class: "promotion", role: "dialog", "aria-label": "Promote to", "aria-modal": "true" }, make("div", {}, ...buttons));
    box.addEventListener("keydown", event => {
      const at = buttons.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
      if (event.key === "Escape") close();
      else if (step) { event.preventDefault(); buttons[(at + step + buttons.length) % buttons.length].focus(); }
      event.stopPropagation();
    });
    box.addEventListener("pointerdown", event => { event.stopPropagation(); if (event.target === box) close(); });
    this.#root.append(box);
    buttons[0].focus();
  }

  #squareAt(x, y) {
    const box = this.#root.getBoundingClientRect();
    const [column, row] = [x - box.left, y - box.top].map(length => Math.floor(8 * length / box.width));
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.#flipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
  }

  #onPointerDown(event) {
    if (event.button !== 0) return;
    const name = this.#squareAt(event.clientX, event.clientY);
    if (name === null) return;
    this.#focusOn(name, false);
    this.#walks = false;
    if (this.#movesFrom(name).length > 0 && this.#movesTo(name).length === 0) {
      this.#drag = { from: name, x: event.clientX, y: event.clientY, picture: null, wasChosen: this.#chosen === name };
      this.#root.setPointerCapture(event.pointerId);
      this.#choose(name);
    }
  }

  #onPointerMove(event) {
    const drag = this.#drag;
    if (!drag) return;
    if (!drag.picture) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
      const side = this.#root.getBoundingClientRect().width / 8;
      drag.picture = piece(this.#pieces.get(drag.from));
      drag.picture.classList.add("floating");
      drag.picture.style.width = drag.picture.style.height = `${side}px`;
      drag.side = side;
      document.body.append(drag.picture);
      this.#squares.get(drag.from).classList.add("held");
    }
    drag.picture.style.left = `${event.clientX - drag.side / 2}px`;
    drag.picture.style.top = `${event.clientY - drag.side / 2}px`;
  }

  #onPointerUp(event) {
    const name = this.#squareAt(event.clientX, event.clientY);
    const drag = this.#drag;
    this.#cancelDrag();
    if (drag?.picture) {
      if (name === drag.from || name === null) this.#choose(null);
      else this.#activate(name);
    } else if (drag) {
      if (drag.wasChosen) this.#choose(null);
    } else if (name !== null && !event.target.closest?.(".promotion")) {
      this.#activate(name);
    }
  }

  #cancelDrag() {
    this.#drag?.picture?.remove();
    if (this.#drag) this.#squares.get(this.#drag.from).classList.remove("held");
    this.#drag = null;
  }

  #focusOn(name, focus = true) {
    this.#squares.get(this.#focus).tabIndex = -1;
    this.#focus = name;
    const square = this.#squares.get(name);
    square.tabIndex = 0;
    if (focus) square.focus();
  }

  #onKey(event) {
    const step = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (step && !this.#walks) return;
    if (step) {
      const sign = this.#flipped ? -1 : 1;
      const file = FILES.indexOf(this.#focus[0]) + sign * step[0];
      const rank = Number(this.#focus[1]) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) this.#focusOn(FILES[file] + rank);
    } else if (event.key === "Enter" || event.key === " ") {
      this.#walks = true;
      this.#activate(this.#focus);
    } else if (event.key === "Escape") {
      if (this.#chosen === null) this.#walks = false;
      this.#choose(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
