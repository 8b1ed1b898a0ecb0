// Search for the games of a player: the form, the completion of names, and the results.

import { byId, grouped, make, percent } from "./dom.js";
import { list } from "./games.js";
import { hinting, points } from "./moves.js";
import { ask, lines } from "./server.js";

/** The parameters of the search, and their names in the address of the page. */
const NAMES = { player: "player", match: "player-match", color: "player-color", opponent: "player-opponent", since: "player-since", until: "player-until" };
/** The parameters that are fields of the form, and the ids of these fields. */
const FIELDS = { player: "player-name", color: "player-color", opponent: "player-opponent", since: "player-since", until: "player-until" };

/** Returns a table of moves with the player's games and score, and the book's score, for the side to move. */
function comparison(found, answer, { play, hint }) {
  const total = counts => counts.white + counts.draws + counts.black;
  const row = (move, counts, everyone, attributes = {}) => make("tr", attributes, make("td", {}, move), make("td", { class: "right" }, grouped(total(counts))),
    make("td", { class: "right" }, percent(points(counts, answer.turn))), make("td", { class: "right" }, everyone && total(everyone) > 0 ? percent(points(everyone, answer.turn)) : "–"));
  const head = [["Move", ""], ["Games", "right"], ["Score", "right"], ["Everyone", "right"]];
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...head.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
    make("tbody", {}, ...found.moves.map(move => {
      // Compare SAN, because the responses differ in the UCI notation of castling.
      const { uci } = answer.legal.find(({ san }) => san === move.san) ?? move;
      const everyone = answer.moves.find(({ san }) => san === move.san)?.played;
      return row(make("button", { type: "button" }, move.san), move, everyone, { onclick: () => play(uci), ...hinting(uci, hint) });
    })),
    make("tfoot", {}, row("All", found, answer.reached))));
}

/** Returns the results in a response as elements. */
function results(found, answer, page) {
  const games = found.white + found.draws + found.black;
  const words = found.queuePosition > 0 ? `Waiting for ${found.queuePosition} other searches.`
    : games === 0 ? "No games by this player in this position."
    // The response contains the player's own score if the games are with both colours.
    : `${games} ${games === 1 ? "game" : "games"} in this position: White won ${found.white}, Black ${found.black}; ${found.draws} drawn.${found.score === undefined ? "" : ` The player scored ${percent(found.score)}.`}`;
  return [make("p", { class: "note" }, words), games > 0 ? comparison(found, answer, page) : "", ...list("Latest", found.recentGames, page.open)];
}

export class PlayerSearch {
  #page; #query = null; #running = null;
  /** The names of the last completion. */
  #offered = new Set();

  /**
   * `page` has `place` (returns the query of the position), `answer` (returns its statistics), `filters` (returns
   * their query), `open` (opens a game), `play` (plays a move), `hint` (marks a move or, with `null`, none),
   * `changed` (called when the address has changed) and `say` (shows a message).
   */
  constructor(page) {
    this.#page = page;
    for (const id of ["player-name", "player-opponent"]) byId(id).addEventListener("input", event => this.#complete(event.target));
    byId("player").addEventListener("submit", event => {
      event.preventDefault();
      this.#search(this.#read());
    });
    byId("player-close").addEventListener("click", () => {
      byId("player").reset();
      this.#search(null);
      byId("player-name").focus();
    });
  }

  /** The part of the address that restores the search. */
  get parameters() {
    return new URLSearchParams([...this.#query ?? []].map(([name, value]) => [NAMES[name], value]));
  }

  /** Restores the search in the parameters of an address. The caller updates the results. */
  restore(parameters) {
    const there = Object.entries(NAMES).filter(([, name]) => parameters.get(name));
    const query = parameters.get("player") ? new URLSearchParams(there.map(([name, key]) => [name, parameters.get(key)])) : null;
    if (query && !query.has("color")) query.set("color", "both");
    if (`${query ?? ""}` === `${this.#query ?? ""}`) return;
    this.#query = query;
    byId("player").reset();
    for (const [name, id] of Object.entries(FIELDS)) if (query?.has(name)) byId(id).value = query.get(name);
    if (query?.get("match") === "spelling") this.#offered.add(query.get("player"));
  }

  /** Requests the games of the player again, for the position on the board and the filters. */
  async update() {
    this.#running?.abort();
    byId("player-close").hidden = this.#query === null;
    const answer = this.#page.answer();
    if (this.#query === null) byId("player-games").replaceChildren();
    if (this.#query === null || answer === null) return;
    const running = this.#running = new AbortController();
    // The dates in the form replace those of the filters.
    const parameters = Object.fromEntries([...this.#page.filters(), ...this.#query].filter(([name]) => name !== "ratings"));
    const query = [new URLSearchParams(parameters), this.#page.place()].filter(part => `${part}`).join("&");
    try {
      for await (const found of lines(`player?${query}`, { signal: running.signal })) byId("player-games").replaceChildren(...results(found, answer, this.#page));
    } catch (error) {
      if (error.name !== "AbortError") this.#page.say(error.message);
    }
  }

  #search(query) {
    this.#query = query;
    this.#page.changed();
    this.update();
  }

  /** Offers the names of players in the books that contain the text of a field. */
  async #complete(field) {
    const text = field.value;
    if (text.trim() === "" || this.#offered.has(text)) return;
    const { players } = await ask(`players?${new URLSearchParams({ part: text })}`).catch(() => ({ players: [] }));
    if (text !== field.value) return;
    this.#offered = new Set(players.map(player => player.name));
    byId("player-names").replaceChildren(...players.map(({ name, games, spellings }) =>
      make("option", { value: name }, `${grouped(games)} games${spellings > 1 ? `, ${spellings} spellings` : ""}`)));
  }

  /** Returns the query of the form. A completed name matches all its spellings; other text matches part of a name. */
  #read() {
    const values = Object.fromEntries(Object.entries(FIELDS).map(([name, id]) => [name, byId(id).value]).filter(([, value]) => value));
    return new URLSearchParams({ ...values, match: this.#offered.has(values.player) ? "spelling" : "part" });
  }
}
