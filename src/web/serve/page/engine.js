// The engine's lines during a search, compared with the book: how many games reached their positions, where they leave
// and enter the book, and the values of the moves.

import { byId, disclose, grouped, make, score } from "./dom.js";
import { CLIENT } from "./server.js";
import { save, saved } from "./theme.js";
import { numbered, numberOf, plyOf } from "./variations.js";

/** The key of the settings in the browser's storage. */
const KEY = "engine";
/** The settings and the values that the form offers. The server limits most of them. */
const SETTINGS = {
  lines: { values: [1, 2, 3, 5, 10, 20, 50, 100], initial: 3 },
  threads: { values: [1, 2, 4, 8, 16, 32, 64, 128, 256], initial: 1 },
  memory: { values: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096], initial: 32, unit: " MiB" },
  seconds: { values: [5, 10, 20, 60], initial: 20, unit: " s" },
};
/** Interval in milliseconds between two updates of the values in the table of moves. */
const UPDATE_INTERVAL = 150;

const games = number => `${grouped(number)} ${number === 1 ? "game" : "games"}`;

export class Engine {
  #source = null; #lines = new Map(); #values = new Map(); #update = null; #address = ""; #page; #fen = "";

  /**
   * `page` has `play` (plays the moves of a line), and `compare` (receives the value and depth of moves by their UCI
   * notation, and the first moves of the lines).
   */
  constructor(page) {
    this.#page = page;
    byId("engine-run").addEventListener("click", () => this.toggle());
    disclose(byId("engine-options-open"), byId("engine-options"));
    byId("engine-options").addEventListener("change", () => {
      save(KEY, JSON.stringify(this.#settings));
      if (this.isOn) this.#start();
    });
    byId("engine-options").addEventListener("submit", event => event.preventDefault());
  }

  get isOn() { return byId("engine-run").getAttribute("aria-pressed") === "true"; }

  get #settings() {
    const { elements } = byId("engine-options");
    return { ...Object.fromEntries(Object.keys(SETTINGS).map(name => [name, Number(elements[name].value)])), values: elements.values.checked };
  }

  /** Offers the settings that the server allows. `limits` contains the maximum of each setting. */
  limit(limits) {
    const { elements } = byId("engine-options");
    let chosen = {};
    try {
      chosen = JSON.parse(saved(KEY) ?? "{}") ?? {};
    } catch { /* Settings that cannot be read are replaced by the next ones. */ }
    for (const [name, { values, initial, unit = "" }] of Object.entries(SETTINGS)) {
      const most = limits[name] ?? values.at(-1);
      const offered = [...values.filter(value => value < most), most];
      elements[name].replaceChildren(...offered.map(value => make("option", { value }, `${value}${unit}`)));
      elements[name].value = offered.includes(chosen[name]) ? chosen[name] : Math.min(initial, most);
    }
    elements.values.checked = chosen.values ?? true;
  }

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
    this.#values.clear();
    this.#compare();
    byId("engine").replaceChildren();
    byId("engine-found").replaceChildren();
    byId("engine-state").textContent = words;
  }

  #start() {
    this.#stop("Searching …");
    const mark = this.#address ? "&" : "";
    const source = new EventSource(`analysis?${this.#address}${mark}${new URLSearchParams(this.#settings)}&client=${CLIENT}`);
    this.#source = source;
    const onEvent = (name, take) => source.addEventListener(name, event => { if (source === this.#source) take(JSON.parse(event.data)); });
    onEvent("value", value => this.#note(value, value));
    onEvent("line", line => this.#show(line));
    onEvent("transposition", found => this.#list(found));
    onEvent("end", end => {
      source.close();
      this.#compare();
      const why = { cached: "From an earlier search", replaced: "Replaced by another search of this page", closing: "The server is shutting down" }[end.reason] ?? "Done";
      byId("engine-state").textContent = `${why}: depth ${end.depth}, ${grouped(end.nodes)} nodes.`;
    });
    source.addEventListener("error", () => {
      source.close();
      if (source === this.#source) byId("engine-state").textContent = "No answer from the engine: other searches may be running. Try again.";
    });
  }

  #show(line) {
    byId("engine-state").textContent = `Depth ${line.depth}, ${grouped(line.nodes)} nodes, ${(line.milliseconds / 1000).toFixed(1)} s.`;
    this.#lines.set(line.number, { item: this.#item(line), first: line.moves[0]?.uci });
    byId("engine").replaceChildren(...[...this.#lines].sort(([one], [other]) => one - other).map(([, { item }]) => item));
    if (line.bound === "exact" && line.moves.length > 0) this.#note(line.moves[0], line);
  }

  /** Stores the value of a move, unless a deeper one is known, and shows it in the table of moves soon. */
  #note({ uci, san }, { score, depth }) {
    if (depth < (this.#values.get(uci)?.depth ?? 0)) return;
    this.#values.set(uci, { san, score, depth });
    this.#update ??= setTimeout(() => this.#compare(), UPDATE_INTERVAL);
  }

  #compare() {
    clearTimeout(this.#update);
    this.#update = null;
    this.#page.compare(this.#values, [...this.#lines.values()].map(({ first }) => first));
  }

  #item(line) {
    const moves = make("div", { class: "line" });
    const ply = plyOf(this.#fen);
    const left = line.games.findLastIndex(number => number > 0);
    line.moves.forEach((move, index) => {
      const number = numberOf(ply + index, index === 0);
      const reached = line.games[index] ?? 0;
      const path = line.moves.slice(0, index + 1).map(move => move.uci);
      moves.append(make("button", { type: "button", class: reached > 0 ? "known" : "", title: reached > 0 ? `${games(reached)} reached the position after it` : null, onclick: () => this.#page.play(path) }, number + move.san));
      if (line.transposes?.plies === index + 1) {
        const name = line.transposes.opening ? `${line.transposes.opening.name}, ` : "";
        moves.append(make("span", { class: "gate" }, `◆ into the book: ${name}${games(line.transposes.reached.games)}`));
      } else if (reached > 0 && (index === 0 || index === left)) {
        moves.append(make("span", { class: "count" }, games(reached)));
      }
      if (line.novelty === index + 1) moves.append(make("span", { class: "novelty", title: "novelty: the games continued with other moves here, and none reached the next position" }, "N"));
    });
    const sign = { exact: "", lower: "≥ ", upper: "≤ " }[line.bound];
    return make("li", {}, make("div", { class: "score" }, sign + score(line.score), make("small", {}, `depth ${line.depth}`)), moves);
  }

  /** Lists a transposition into the book that the search reported. */
  #list(found) {
    if (!found.fromOutside) return;
    const name = found.opening ? `${found.opening.eco} ${found.opening.name}` : "a position of the book";
    const line = numbered(found.moves, this.#fen);
    const button = make("button", { type: "button", onclick: () => this.#page.play(found.moves.map(move => move.uci)) }, `◆ ${line} → ${name} (${games(found.reached.games)})`);
    const list = byId("engine-found");
    if ([...list.children].some(item => item.textContent === button.textContent)) return;
    list.prepend(make("li", {}, button));
    while (list.children.length > 6) list.lastChild.remove();
  }
}
