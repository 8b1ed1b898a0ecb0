// The results of each move in several books, side by side.

import { byId, grouped, make, percent } from "./dom.js";
import { ask } from "./server.js";

/** Number of moves in the table. */
const LISTED = 12;

let newest = 0;

function cell(results) {
  if (!results) return make("td", { class: "right" }, "–");
  const { white, draws, black, games } = results.played;
  const title = `${grouped(games)} ${games === 1 ? "game" : "games"}: White won ${grouped(white)}, Black ${grouped(black)}; ${grouped(draws)} drawn`;
  return make("td", { class: "right", title }, make("span", { class: "score" }, percent(results.score)), " ", make("span", { class: "count" }, grouped(results.played.games)));
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
  const names = answer.sources.map(({ name, reached }) => make("th", { scope: "col", class: "right", title: name }, name, make("small", {}, reached ? ` ${grouped(reached.games)} ${reached.games === 1 ? "game" : "games"}` : " without this filter")));
  const rows = answer.moves.slice(0, LISTED).map(move => make("tr", { onclick: () => play(move.uci), onmouseenter: () => hint(move.uci), onmouseleave: () => hint(null), onfocusin: () => hint(move.uci), onfocusout: () => hint(null) },
    make("td", {}, make("button", { type: "button" }, move.san)), ...move.sources.map(cell)));
  byId("sources").replaceChildren(make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Move"), ...names)), make("tbody", {}, ...rows)));
  byId("sources-note").textContent = `The score of the side to move, and the number of games that played the move here.${answer.moves.length > LISTED ? ` ${answer.moves.length - LISTED} rarer moves are left out.` : ""}`;
}
