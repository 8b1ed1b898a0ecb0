// Search by pattern: finds the games of the books with given material, pawns or pieces.

import { byId, grouped, make } from "./dom.js";
import { gameButton } from "./games.js";
import { CLIENT, lines } from "./server.js";

/** Numbers of listed games, before and after *More games*; the server lists no more. */
const LISTED = 20, MOST = 100;
const LETTERS = ["Q", "R", "B", "N", "P"];

/** For each kind of pattern from the board: returns whether a word is of this kind and is to be replaced. */
const KINDS = {
  material: word => /^K.*v/.test(word),
  pawns: word => word.startsWith("pawns="),
  squares: word => word.includes("/") && !word.includes("="),
};

/** Returns the board as a pattern. `keep` converts each piece; other squares match anything. */
function ranks(board, keep) {
  return board.split("/").map(rank => {
    const squares = [...rank].map(sign => /\d/.test(sign) ? "?".repeat(Number(sign)) : keep(sign)).join("");
    return squares === "????????" ? "?" : squares;
  }).join("/");
}

const number = (board, letter) => board.split(letter).length - 1;
const side = (board, letters) => `K${letters.map(letter => letter.toUpperCase().repeat(number(board, letter))).join("")}`;

/** For each button: returns the pattern for the board of a FEN. */
const FROM_BOARD = {
  material: board => `${side(board, LETTERS)}v${side(board, LETTERS.map(letter => letter.toLowerCase()))}`,
  pawns: board => `pawns=${ranks(board, sign => "pP".includes(sign) ? sign : "?")}`,
  squares: board => ranks(board, sign => sign),
};

function positionText({ ply, length, mirrored }) {
  return `ply ${ply}${length > 1 ? `, ${length} positions` : ""}${mirrored ? ", colours exchanged" : ""}`;
}

function item(found, open) {
  const [first, ...others] = found.positions;
  const more = others.map(place => make("button", { type: "button", "aria-label": `${positionText(place)}, ${found.white.name} – ${found.black.name}`, onclick: () => open(found.id, place.ply) }, String(place.ply)));
  const left = found.occurrences - found.positions.length;
  return make("li", {},
    gameButton(found, () => open(found.id, first.ply), make("span", { class: "date" }, positionText(first))),
    more.length > 0 ? make("p", { class: "plies" }, "also at ply ", ...more, left > 0 ? ` and ${left} more` : "") : null);
}

export class PatternSearch {
  #page; #running = null; #query = null; #listed = LISTED;

  /**
   * `page` has `board` (returns a FEN), `filters` (returns their query), `open` (opens a game at a ply), and `changed`
   * (called when the address has changed).
   */
  constructor(page) {
    this.#page = page;
    for (const kind of Object.keys(KINDS)) byId(`pattern-${kind}`).addEventListener("click", () => this.#copy(kind));
    byId("pattern-mirror").addEventListener("change", event => this.#change(word => word === "mirror", event.target.checked ? "mirror" : ""));
    byId("pattern").addEventListener("input", () => this.#showMirror());
    byId("pattern-form").addEventListener("submit", event => {
      event.preventDefault();
      this.#search(new URLSearchParams({ pattern: byId("pattern").value, "pattern-sort": byId("pattern-sort").value }));
    });
    byId("pattern-more").addEventListener("click", () => {
      this.#listed = MOST;
      this.update();
    });
    byId("pattern-close").addEventListener("click", () => {
      byId("pattern-form").reset();
      this.#search(null);
      byId("pattern").focus();
    });
  }

  /** The part of the address that restores the search. */
  get parameters() { return this.#query ?? new URLSearchParams(); }

  /** Restores the search in the parameters of an address. */
  restore(parameters) {
    const pattern = parameters.get("pattern");
    const query = pattern ? new URLSearchParams({ pattern, "pattern-sort": parameters.get("pattern-sort") ?? "latest" }) : null;
    if (`${query ?? ""}` === `${this.#query ?? ""}`) return;
    [this.#query, this.#listed] = [query, LISTED];
    byId("pattern").value = pattern ?? "";
    byId("pattern-sort").value = query?.get("pattern-sort") ?? "latest";
    this.#showMirror();
    this.update();
  }

  #copy(kind) {
    const [board] = this.#page.board().split(" ");
    this.#change(KINDS[kind], FROM_BOARD[kind](board));
    byId("pattern").focus();
  }

  /** Replaces the words of the pattern for which `isReplaced` returns true. */
  #change(isReplaced, word) {
    const field = byId("pattern");
    const others = field.value.split(/\s+/).filter(other => other && !isReplaced(other));
    field.value = [...others, word].filter(Boolean).join(" ");
    this.#showMirror();
  }

  #showMirror() {
    byId("pattern-mirror").checked = byId("pattern").value.split(/\s+/).includes("mirror");
  }

  #search(query) {
    [this.#query, this.#listed] = [query, LISTED];
    this.#page.changed();
    this.update();
  }

  /** Searches again with the filters of the page. Stops the previous search. */
  async update() {
    this.#running?.abort();
    byId("pattern-close").hidden = this.#query === null;
    if (this.#query === null) return this.#clear();
    const running = this.#running = new AbortController();
    const [pattern, sort] = [this.#query.get("pattern"), this.#query.get("pattern-sort")];
    const query = new URLSearchParams([["pattern", pattern], ["sort", sort], ["games", this.#listed], ["client", CLIENT], ...this.#page.filters()]);
    byId("pattern-state").textContent = "Searching …";
    try {
      for await (const line of lines(`search?${query}`, { signal: running.signal })) this.#show(line);
    } catch (error) {
      if (error.name !== "AbortError") this.#show({ error: error.message });
    }
  }

  #clear() {
    byId("pattern-state").textContent = "";
    byId("pattern-games").replaceChildren();
    byId("pattern-more").hidden = true;
  }

  #show(line) {
    const state = byId("pattern-state");
    if (line.games) {
      const { games, white, draws, black } = line.found;
      const listed = line.games.length < games ? ` ${line.games.length} are listed.` : "";
      state.textContent = games === 0 ? `None of ${grouped(line.searched)} games has this pattern.`
        : `${grouped(games)} of ${grouped(line.searched)} games: White won ${grouped(white)}, Black ${grouped(black)}; ${grouped(draws)} drawn.${listed}`;
      byId("pattern-games").replaceChildren(...line.games.map(found => item(found, this.#page.open)));
      byId("pattern-more").hidden = line.games.length >= games || this.#listed === MOST;
    } else if (line.error) {
      this.#clear();
      state.textContent = line.error;
    } else {
      state.textContent = `Reading the games for the first search: ${line.of > 0 ? Math.min(100, Math.floor(100 * line.read / line.of)) : 0}%`;
    }
  }
}
