// The lists of a position's games and of a player's games.

import { byId, grouped, make, percent } from "./dom.js";
import { points } from "./moves.js";
import { ask, lines } from "./server.js";

const RESULTS = { white: "1–0", black: "0–1" };

function playerText(player) {
  return player.rating > 0 ? `${player.name} ${player.rating}` : player.name;
}

/** Returns a button that opens a game. */
export function gameButton(game, open, ...more) {
  return make("button", { type: "button", onclick: open },
    make("span", {}, `${playerText(game.white)} – ${playerText(game.black)}`),
    make("span", {}, RESULTS[game.winner] ?? "½–½"),
    make("span", { class: "date" }, game.month ?? (game.year || "")), ...more);
}

function list(title, games, open) {
  if (games.length === 0) return [];
  return [make("h3", {}, title), make("ul", {}, ...games.map(game => make("li", {}, gameButton(game, () => open(game.id)))))];
}

/** Shows the games in a response. Returns whether there are any. */
export function showGames(root, answer, open) {
  const items = [...list("Highest rated", answer.topGames, open), ...list("Latest", answer.recentGames, open)];
  root.replaceChildren(...items);
  return items.length > 0;
}

/** The names of the last completion. */
let offered = new Set();

/** Offers the names of players in the books that contain the text of a field. */
export async function completePlayer(field) {
  if (field.value.trim() === "" || offered.has(field.value)) return;
  const text = field.value;
  const { players } = await ask(`players?${new URLSearchParams({ part: text })}`).catch(() => ({ players: [] }));
  if (text !== field.value) return;
  offered = new Set(players.map(player => player.name));
  byId("player-names").replaceChildren(...players.map(({ name, games, spellings }) =>
    make("option", { value: name }, `${grouped(games)} games${spellings > 1 ? `, ${spellings} spellings` : ""}`)));
}

/** Returns the query of the form. A completed name matches all its spellings; other text matches part of a name. */
export function playerQuery() {
  const name = byId("player-name").value;
  const parameters = new URLSearchParams({ player: name, match: offered.has(name) ? "spelling" : "part", color: byId("player-color").value });
  for (const field of ["opponent", "since", "until"]) {
    const { value } = byId(`player-${field}`);
    if (value) parameters.set(field, value);
  }
  return parameters;
}

/** Returns a table of moves with the player's games and score, and the book's score, for the side to move. */
function comparison(found, answer, play) {
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
      return row(make("button", { type: "button" }, move.san), move, everyone, { onclick: () => play(uci) });
    })),
    make("tfoot", {}, row("All", found, answer.reached))));
}

/** Shows a player's games as they arrive, until `signal` is aborted. `answer` has the games of all players. */
export async function showPlayer(root, query, answer, { open, play }, signal) {
  for await (const found of lines(`player?${query}`, { signal })) {
    const games = found.white + found.draws + found.black;
    const words = found.queuePosition > 0 ? `Waiting for ${found.queuePosition} other searches.`
      : games === 0 ? "No games by this player in this position." : `${games} ${games === 1 ? "game" : "games"} in this position: White won ${found.white}, Black ${found.black}; ${found.draws} drawn.`;
    root.replaceChildren(make("p", { class: "note" }, words), games > 0 ? comparison(found, answer, play) : "", ...list("Latest", found.recentGames, open));
  }
}

export const game = id => ask(`game/${id}`);

/** Shows the players and the result of the open game; hides them if `head` is `null`. */
export function showHead(head, id, close) {
  const place = byId("game");
  if (!head) {
    place.hidden = true;
    return;
  }
  const tags = Object.fromEntries(head.tags);
  const name = side => [tags[side] ?? "?", tags[`${side}Elo`]].filter(Boolean).join(" ");
  const players = tags.White || tags.Black ? `${name("White")} – ${name("Black")}` : "Game without players";
  const where = [tags.Event, tags.Date].filter(text => text && !/^\?/.test(text)).join(", ");
  place.replaceChildren(
    make("div", {}, make("b", {}, players), make("p", {}, [head.result, where].filter(Boolean).join(" · ")), head.fault ? make("p", { class: "fault" }, head.fault) : ""),
    ...(id ? [make("a", { href: `masters/pgn/${id}`, download: `${id}.pgn` }, "PGN")] : []),
    make("button", { type: "button", "aria-label": "Close the game", onclick: close }, "✕"));
  place.hidden = false;
}
