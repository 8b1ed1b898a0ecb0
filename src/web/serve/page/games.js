// Lists of games, and the head of the open game.

import { byId, make } from "./dom.js";
import { ask } from "./server.js";

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

/** Returns a list of games with a title; empty if there are none. */
export function list(title, games, open) {
  if (games.length === 0) return [];
  return [make("h3", {}, title), make("ul", {}, ...games.map(game => make("li", {}, gameButton(game, () => open(game.id)))))];
}

/** Shows the games in a response. Returns whether there are any. */
export function showGames(root, answer, open) {
  const items = [...list("Highest rated", answer.topGames, open), ...list("Latest", answer.recentGames, open)];
  root.replaceChildren(...items);
  return items.length > 0;
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
