// Annotates the displayed line, using searches on the server.

import { byId, make } from "./dom.js";
import { curveOf, glyph, kindOf, momentsOf, saidOf } from "./notes.js";
import { GameTree } from "./game-tree.js";
import { CLIENT, ask, lines } from "./server.js";
import { plyOf, treeOf } from "./variations.js";

const IDLE = "Finds mistakes in the line and better moves. A game takes about ten seconds.";

const uciOf = nodes => nodes.map(node => node.uci);
const isSame = (one, other) => one.length === other.length && one.every((move, index) => move === other[index]);

/** Returns a line as PGN, with the tags, comments and variations of the open game if it is the main line. */
function pgnOf({ fen, line, tree }) {
  const isMain = tree && isSame(uciOf(tree.through([])), line);
  // The server also accepts moves in UCI notation.
  return (isMain ? tree : GameTree.ofLine(fen, line.map(uci => ({ uci, san: uci })))).pgn();
}

export class Annotation {
  #page; #game = null; #tree = null; #start = ""; #line = []; #curve = null; #request = null; #file = null;

  /**
   * `page` has `go` (shows the position after moves), `show` (adds a line to the open game and shows one of its positions),
   * `place` (returns start, line, ply and the tree of the open game), and `changed` (called when move marks change).
   */
  constructor(page) {
    this.#page = page;
    byId("annotation-run").addEventListener("click", () => this.#request ? this.#end(IDLE) : this.#run());
    this.#end(IDLE);
  }

  /** Shows the annotation of the position. Ends it if the annotated line has been removed or replaced. */
  update() {
    const { fen, line, at, tree } = this.#page.place();
    byId("annotation-run").disabled = line.length === 0;
    const isThere = fen === this.#start && (tree ? tree.find(this.#line) : isSame(line, this.#line));
    if (!isThere) {
      if (this.#game || this.#request) this.#end(IDLE);
      return;
    }
    if (!this.#game) return;
    const shared = this.#shared();
    this.#curve.point(Math.min(at, shared));
    byId("annotation-said").replaceChildren(...at <= shared ? saidOf(this.#game, at, this.#better(at)) : []);
  }

  /** Returns the class and glyphs of a ply of the line on the board, if it is annotated. */
  mark(index) {
    const isKnown = this.#game && index < this.#shared();
    return isKnown ? { kind: kindOf(this.#game, index), sign: glyph(this.#game, index) } : { kind: null, sign: "" };
  }

  /** Returns the number of plies that the lines on the board and in the annotation have in common. */
  #shared() {
    const { fen, line } = this.#page.place();
    if (fen !== this.#start) return 0;
    const parted = line.findIndex((move, index) => move !== this.#line[index]);
    return parted < 0 ? line.length : parted;
  }

  /** Returns the variations of a ply as lists of moves. Selecting a move adds its line to the open game. */
  #better(ply) {
    if (ply === 0) return [];
    const main = this.#tree.through(this.#line);
    const others = main[ply - 1].parent.children.slice(1);
    const pick = path => this.#page.show(main, this.#tree.through(uciOf(path)), path.length);
    return others.length > 0 ? [make("div", { class: "tree better" }, treeOf(others, plyOf(this.#start) + ply - 1, { pick }))] : [];
  }

  #end(words) {
    this.#request?.abort();
    if (this.#file) URL.revokeObjectURL(this.#file);
    const wasThere = this.#game !== null;
    [this.#request, this.#game, this.#curve, this.#file] = [null, null, null, null];
    byId("annotation-run").textContent = "Annotate";
    byId("annotation-state").textContent = words;
    byId("annotation").hidden = true;
    byId("annotation-progress").hidden = true;
    if (wasThere) this.#page.changed();
  }

  async #run() {
    this.#end("Searching …");
    const request = this.#request = new AbortController();
    const place = this.#page.place();
    [this.#start, this.#line] = [place.fen, place.line];
    byId("annotation-run").textContent = "Stop";
    byId("annotation-progress").hidden = false;
    byId("annotation-progress").removeAttribute("value");
    try {
      const options = { method: "POST", body: pgnOf(place), signal: request.signal };
      for await (const message of lines(`annotate?client=${CLIENT}`, options)) {
        if (request !== this.#request) return;
        if (message.error) throw new Error(message.error);
        if (message.game) await this.#show(message);
        else Object.assign(byId("annotation-progress"), { max: message.of, value: message.searched });
      }
      if (request === this.#request) throw new Error("the server has stopped");
    } catch (error) {
      if (request === this.#request) this.#end(`Cannot annotate the line: ${error.message}.`);
    }
  }

  async #show({ game, pgn }) {
    const request = this.#request;
    const tree = new GameTree(await ask("read", { method: "POST", body: pgn, signal: request.signal }));
    if (request !== this.#request) return;
    this.#end("");
    [this.#game, this.#tree] = [game, tree];
    const go = ply => this.#page.go(this.#line.slice(0, ply));
    this.#curve = curveOf(game, go);
    this.#file = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
    byId("annotation-players").replaceChildren(...game.players.map(words => make("p", { class: "note" }, words)));
    byId("annotation-curve").replaceChildren(this.#curve.svg);
    byId("annotation-moments").replaceChildren(...momentsOf(game, go));
    byId("annotation-file").href = this.#file;
    byId("annotation").hidden = false;
    this.#page.changed();
    this.update();
  }
}
