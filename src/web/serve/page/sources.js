// The results of each move in several books, side by side, and in all of them together.

import { byId, grouped, make, percent } from "./dom.js";
import { bar, hinting, points } from "./moves.js";
import { ask } from "./server.js";
import { save, saved } from "./theme.js";

/** Number of moves in the table before all are requested. */
const LISTED = 12;
/** The key of the table's order in the browser's storage. */
const KEY = "sources";
/** The numbers by which a column can be sorted. */
const ORDERS = { games: { title: "Games", order: results => results.played.games }, score: { title: "Score", order: results => results.score } };
const ALL = "All books";

let newest = 0;
/** The shown answer and the functions of the page. */
let shown = null;
let isWhole = false;
/** The order without a choice: the most frequent moves come first. */
const USUAL = { column: null, by: "games", ascending: false };
/** The column and the number by which the rows are sorted. */
const choice = { ...USUAL };

function cell(results) {
  if (!results) return make("td", { class: "right" }, "–");
  const { white, draws, black, games } = results.played;
  const title = `${grouped(games)} ${games === 1 ? "game" : "games"}: White won ${grouped(white)}, Black ${grouped(black)}; ${grouped(draws)} drawn`;
  const score = Number.isNaN(results.score) ? "" : percent(results.score);
  return make("td", { class: "right", title }, make("span", { class: "count" }, grouped(games)), " ", make("span", { class: "score" }, score), games > 0 ? bar(results.played) : "");
}

/** Returns the columns after the move. `of` returns the results of a row, and `reached` are those of the position. */
function columns({ sources, all }) {
  const own = sources.map(({ name, reached }, index) => ({ name, reached, of: move => move.sources[index] }));
  return [{ name: ALL, reached: all, of: move => move.all }, ...own];
}

/** Sorts the moves by a choice. Moves that no game of the column played come last. */
function sorted(moves, there, { column: wanted, by, ascending }) {
  // The stored order can be that of a book that the server does not have.
  const column = there.find(({ name }) => name === wanted);
  if (!column && wanted !== null) return moves;
  const { order } = ORDERS[by] ?? ORDERS.games;
  const sign = ascending ? 1 : -1;
  const { of } = column ?? there[0];
  const number = move => of(move) ? sign * order(of(move)) : Infinity;
  return [...moves].sort((one, other) => number(one) === number(other) ? 0 : number(one) - number(other));
}

function head({ name, reached }) {
  const isSorted = name === choice.column;
  const buttons = Object.entries(ORDERS).map(([by, { title }]) => {
    const isThis = isSorted && choice.by === by;
    const next = !isThis ? { column: name, by, ascending: false } : choice.ascending ? USUAL : { ascending: true };
    return make("button", { type: "button", "aria-label": `${title}, ${name}`, "aria-pressed": String(isThis), "data-sort": by, onclick: () => choose(next, name, by) }, title + (!isThis ? "" : choice.ascending ? " ▴" : " ▾"));
  });
  return make("th", { scope: "col", class: "right", "data-book": name, "aria-sort": isSorted ? (choice.ascending ? "ascending" : "descending") : null },
    // Names break after punctuation rather than within words.
    make("span", {}, ...name.split(/(?<=[._-])/).flatMap(part => [make("wbr"), part])), reached || name === ALL ? "" : make("small", {}, " without this filter"), make("div", {}, ...buttons));
}

/** Sorts the table, and keeps the focus on the button of a column. */
function choose(next, name, by) {
  Object.assign(choice, next);
  save(KEY, JSON.stringify(choice));
  render();
  byId("sources").querySelector(`[data-book="${CSS.escape(name)}"] [data-sort=${by}]`)?.focus();
}

function render() {
  const { answer, play, hint } = shown;
  const there = columns(answer);
  const turn = answer.fen.split(" ")[1] === "w" ? "white" : "black";
  // The same moves are shown in any order.
  const frequent = sorted(answer.moves, there, USUAL);
  const listed = sorted(isWhole ? frequent : frequent.slice(0, LISTED), there, choice);
  const row = move => make("tr", { "data-uci": move.uci, onclick: () => play(move.uci), ...hinting(move.uci, hint) },
    make("td", {}, make("button", { type: "button" }, move.san)), ...there.map(({ of }) => cell(of(move))));
  const total = ({ reached }) => cell(reached && { played: reached, score: points(reached, turn) });
  byId("sources").replaceChildren(make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Move"), ...there.map(head))),
    make("tbody", {}, ...listed.map(row)),
    make("tfoot", {}, make("tr", {}, make("td", {}, "All"), ...there.map(total)))));
  const weighted = answer.sources.filter(({ weights }) => weights).map(({ name }) => name);
  byId("sources-note").textContent = `The games that played the move here, and the score of the side to move. The last row has all games that reached the position. ${ALL}: a game in several books counts once.${weighted.length > 0 ? ` Weights of moves are not part of it: ${weighted.join(", ")}.` : ""}`;
  const more = byId("sources-more");
  more.hidden = answer.moves.length <= LISTED;
  more.textContent = isWhole ? "Fewer moves" : `All ${answer.moves.length} moves`;
}

/** Prepares the panel. */
export function openSources() {
  try {
    Object.assign(choice, JSON.parse(saved(KEY) ?? "{}"));
  } catch { /* An order that cannot be read is replaced by the next one. */ }
  byId("sources-panel").hidden = false;
  byId("sources-more").addEventListener("click", () => {
    isWhole = !isWhole;
    render();
  });
}

/** Requests the results of a position and shows them, if the panel is visible. `play` plays a move; `hint` marks one on the board. */
export async function showSources(query, { play, hint }) {
  if (byId("sources-panel").hidden) return;
  const number = ++newest;
  let answer;
  try {
    answer = await ask(`book/sources?${query}`);
  } catch (error) {
    if (number === newest) byId("sources-note").textContent = error.message;
    return;
  }
  if (number !== newest) return;
  shown = { answer, play, hint };
  render();
}
