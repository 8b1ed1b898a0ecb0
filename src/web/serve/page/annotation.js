// Annotates the displayed line, using searches on the server.

import { byId, make } from "./dom.js";
import { CLIENT } from "./engine.js";
import { curveOf, glyph, kindOf, momentsOf, saidOf } from "./notes.js";
import { lines } from "./server.js";

const IDLE = "Finds mistakes in the line and better moves. A game takes about ten seconds.";

/** Returns a line as PGN: as it was pasted, or with moves in UCI notation, which the server also accepts. */
function pgnOf({ fen, line, game }) {
  const isGame = game && game.fen === fen && game.moves.length === line.length && game.moves.every((move, index) => move.uci === line[index]);
  if (isGame && game.text) return game.text;
  const quoted = text => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const tags = isGame ? game.tags.filter(([name]) => !["FEN", "SetUp", "Result"].includes(name)) : [];
  const rows = [...tags, ["Result", isGame ? game.result : "*"], ["FEN", fen], ["SetUp", "1"]].map(([name, value]) => `[${name} "${quoted(value)}"]`);
  return `${rows.join("\n")}\n\n${line.join(" ")} ${isGame ? game.result : "*"}\n`;
}

export class Annotation {
  #go; #place; #changed; #game = null; #line = ""; #curve = null; #request = null; #file = null;

  /** `go` shows a ply of the line. `place` returns start, line, ply and game. `changed` is called when move marks change. */
  constructor(go, place, changed) {
    [this.#go, this.#place, this.#changed] = [go, place, changed];
    byId("annotation-run").addEventListener("click", () => this.#request ? this.#end(IDLE) : this.#start());
    this.#end(IDLE);
  }

  update() {
    const { line, at } = this.#place();
    byId("annotation-run").disabled = line.length === 0;
    if (this.#line !== this.#key()) {
      if (this.#game || this.#request) this.#end(IDLE);
      return;
    }
    if (!this.#game) return;
    this.#curve.point(at);
    byId("annotation-said").replaceChildren(...saidOf(this.#game, at));
  }

  /** Returns the class and glyphs of a ply of the line, if it is annotated. */
  mark(index) {
    const isKnown = this.#game && this.#line === this.#key();
    return isKnown ? { kind: kindOf(this.#game, index), sign: glyph(this.#game, index) } : { kind: null, sign: "" };
  }

  #key() {
    const { fen, line } = this.#place();
    return `${fen} ${line.join(" ")}`;
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
    if (wasThere) this.#changed();
  }

  async #start() {
    this.#end("Searching …");
    const request = this.#request = new AbortController();
    this.#line = this.#key();
    byId("annotation-run").textContent = "Stop";
    byId("annotation-progress").hidden = false;
    byId("annotation-progress").removeAttribute("value");
    try {
      const options = { method: "POST", body: pgnOf(this.#place()), signal: request.signal };
      for await (const message of lines(`annotate?client=${CLIENT}`, options)) {
        if (request !== this.#request) return;
        if (message.error) throw new Error(message.error);
        if (message.game) this.#show(message);
        else Object.assign(byId("annotation-progress"), { max: message.of, value: message.searched });
      }
      if (request === this.#request) throw new Error("the server has stopped");
    } catch (error) {
      if (request === this.#request) this.#end(`Cannot annotate the line: ${error.message}.`);
    }
  }

  #show({ game, pgn }) {
    this.#end("");
    this.#game = game;
    this.#curve = curveOf(game, this.#go);
    this.#file = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
    byId("annotation-players").replaceChildren(...game.players.map(words => make("p", { class: "note" }, words)));
    byId("annotation-curve").replaceChildren(this.#curve.svg);
    byId("annotation-moments").replaceChildren(...momentsOf(game, this.#go));
    byId("annotation-file").href = this.#file;
    byId("annotation").hidden = false;
    this.#changed();
    this.update();
  }
}
