// The engine's lines during a search, and where they enter the book.

import { byId, grouped, make, score } from "./dom.js";
import { numbered, numberOf, plyOf } from "./variations.js";

/** Identifies the searches of this page to the server. */
export const CLIENT = crypto.getRandomValues(new Uint32Array(2)).join("-");

export class Engine {
  #source = null; #lines = new Map(); #address = ""; #play; #fen = "";

  /** Calls `play` with the moves of a line that the user selects. */
  constructor(play) {
    this.#play = play;
    byId("engine-run").addEventListener("click", () => this.toggle());
    byId("engine-lines").addEventListener("change", () => { if (this.isOn) this.#start(); });
  }

  get isOn() { return byId("engine-run").getAttribute("aria-pressed") === "true"; }

  toggle() {
    byId("engine-run").setAttribute("aria-pressed", String(!this.isOn));
    byId("engine-run").textContent = this.isOn ? "Stop" : "Analyse";
    if (this.isOn) this.#start();
    else this.#stop("Off.");
  }

  update(address, fen, isOver) {
    if (address === this.#address) return;
    [this.#address, this.#fen] = [address, fen];
    this.#stop(isOver ? "The game is over." : this.isOn ? "" : "Off. Analyse shows the best lines and where they enter the book.");
    if (this.isOn && !isOver) this.#start();
  }

  #stop(words) {
    this.#source?.close();
    this.#source = null;
    this.#lines.clear();
    byId("engine").replaceChildren();
    byId("engine-found").replaceChildren();
    byId("engine-state").textContent = words;
  }

  #start() {
    this.#stop("Searching …");
    const lines = byId("engine-lines").value;
    const mark = this.#address ? "&" : "";
    const source = new EventSource(`analysis?${this.#address}${mark}lines=${lines}&client=${CLIENT}`);
    this.#source = source;
    const onEvent = (name, take) => source.addEventListener(name, event => { if (source === this.#source) take(JSON.parse(event.data)); });
    onEvent("line", line => this.#show(line));
    onEvent("transposition", found => this.#note(found));
    onEvent("end", end => {
      source.close();
      const why = { replaced: "Replaced by another search of this page", closing: "The server is shutting down" }[end.reason] ?? "Done";
      byId("engine-state").textContent = `${why}: depth ${end.depth}, ${grouped(end.nodes)} nodes.`;
    });
    source.addEventListener("error", () => {
      source.close();
      if (source === this.#source) byId("engine-state").textContent = "No answer from the engine: other searches may be running. Try again.";
    });
  }

  #show(line) {
    byId("engine-state").textContent = `Depth ${line.depth}, ${grouped(line.nodes)} nodes, ${(line.milliseconds / 1000).toFixed(1)} s.`;
    this.#lines.set(line.number, this.#item(line));
    byId("engine").replaceChildren(...[...this.#lines].sort(([one], [other]) => one - other).map(([, item]) => item));
  }

  #item(line) {
    const moves = make("div", { class: "line" });
    const known = new Set(line.inBook);
    const ply = plyOf(this.#fen);
    line.moves.forEach((move, index) => {
      const number = numberOf(ply + index, index === 0);
      const isKnown = known.has(index + 1);
      const path = line.moves.slice(0, index + 1).map(move => move.uci);
      moves.append(make("button", { type: "button", class: isKnown ? "known" : "", title: isKnown ? "in the book" : null, onclick: () => this.#play(path) }, number + move.san));
      if (line.transposes?.plies === index + 1) {
        const games = line.transposes.reached.games;
        const name = line.transposes.opening ? `${line.transposes.opening.name}, ` : "";
        moves.append(make("span", { class: "gate" }, `◆ into the book: ${name}${grouped(games)} ${games === 1 ? "game" : "games"}`));
      }
    });
    const sign = { exact: "", lower: "≥ ", upper: "≤ " }[line.bound];
    return make("li", {}, make("div", { class: "score" }, sign + score(line.score), make("small", {}, `depth ${line.depth}`)), moves);
  }

  /** Lists a transposition into the book that the search reported. */
  #note(found) {
    if (!found.fromOutside) return;
    const name = found.opening ? `${found.opening.eco} ${found.opening.name}` : "a position of the book";
    const line = numbered(found.moves, this.#fen);
    const { games } = found.reached;
    const button = make("button", { type: "button", onclick: () => this.#play(found.moves.map(move => move.uci)) }, `◆ ${line} → ${name} (${grouped(games)} ${games === 1 ? "game" : "games"})`);
    const list = byId("engine-found");
    if ([...list.children].some(item => item.textContent === button.textContent)) return;
    list.prepend(make("li", {}, button));
    while (list.children.length > 6) list.lastChild.remove();
  }
}
