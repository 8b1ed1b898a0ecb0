// The moves of a position as a table.

import { draw, grouped, make, percent, score } from "./dom.js";

/** Minimum fraction of a bar at which its part shows a percentage. */
const LABEL_FROM = 0.16;

export function bar(results) {
  const parts = [["won", results.white, "White won"], ["drawn", results.draws, "drawn"], ["lost", results.black, "Black won"], ["open", results.undecided, "without a result"]];
  const there = parts.filter(([, games]) => games > 0);
  const words = there.map(([, games, what]) => `${what} ${percent(games / results.games)}`).join(", ");
  const element = make("div", { class: "bar", role: "img", "aria-label": words, title: there.map(([, games, what]) => `${grouped(games)} ${what}`).join(", ") });
  for (const [kind, games] of there) {
    const share = games / results.games;
    const part = make("i", { class: kind }, share >= LABEL_FROM && kind !== "open" ? percent(share) : "");
    part.style.flexGrow = games;
    part.style.flexBasis = 0;
    element.append(part);
  }
  return element;
}

/** Returns a small chart of the games by year. */
function years(history) {
  const byYear = new Map();
  for (const row of history) {
    const year = Number(row.month.slice(0, 4));
    byYear.set(year, (byYear.get(year) ?? 0) + row.white + row.draws + row.black);
  }
  const [first, last] = [Math.min(...byYear.keys()), Math.max(...byYear.keys())];
  const most = Math.max(...byYear.values());
  const width = 80, height = 20, span = Math.max(1, last - first);
  const points = [];
  for (let year = first; year <= last; year++) {
    points.push(`${(width * (year - first) / span).toFixed(1)} ${(height - 1 - (height - 3) * (byYear.get(year) ?? 0) / most).toFixed(1)}`);
  }
  const label = `games from ${first} to ${last}, at most ${grouped(most)} a year`;
  return draw("svg", { class: "years", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    draw("title", {}, label),
    draw("path", { class: "under", d: `M0 ${height}L${points.join("L")}L${width} ${height}Z` }),
    draw("path", { d: `M${points.join("L")}` }));
}

/** Returns the opening after a move, without the family name that is already shown for the position. */
function nameAfter(opening, before) {
  if (!opening) return "";
  const [family] = (before?.name ?? "").split(":");
  const rest = opening.name.startsWith(`${family}:`) && family ? opening.name.slice(family.length + 1).trim() : opening.name;
  return make("span", { title: opening.name }, `${opening.eco} ${rest}`);
}

/** Fills the table. Calls `play` with the selected move, and `hint` with the move under the pointer. */
export function showMoves(root, note, answer, play, hint) {
  const { moves } = answer;
  const has = {
    reached: moves.some(move => move.reached.games !== move.played.games),
    rating: moves.some(move => move.averageRating !== null),
    years: moves.some(move => move.history?.length > 1),
    value: moves.some(move => move.value !== null),
  };
  const head = [["Move", ""], ["Played", "right of-played"], has.reached && ["Reached", "right"], ["Results after it", "wide-bar"], ["Score", "right of-score"], has.value && ["Value", "right"], has.rating && ["Rating", "right rating"], has.years && ["Years", "of-years"], ["Opening", "name"]];
  const rows = moves.map(move => {
    const transposed = move.reached.games - move.played.games;
    const row = make("tr", { "data-uci": move.uci },
      make("td", {}, make("button", { type: "button" }, move.san)),
      make("td", { class: "right of-played" }, grouped(move.played.games)),
      has.reached ? make("td", { class: "right" }, grouped(move.reached.games), transposed > 0 ? make("span", { class: "more", title: `${grouped(transposed)} games reached it by other move orders` }, ` +${grouped(transposed)}`) : null) : null,
      make("td", { class: "wide-bar" }, bar(move.reached)),
      make("td", { class: "right of-score" }, percent(move.score)),
      has.value ? make("td", { class: "right" }, move.value ? score(move.value) : "") : null,
      has.rating ? make("td", { class: "right rating" }, move.averageRating ?? "") : null,
      has.years ? make("td", { class: "of-years" }, move.history?.length > 1 ? years(move.history) : "") : null,
      make("td", { class: "name" }, nameAfter(move.opening, answer.opening)));
    row.addEventListener("click", () => play(move.uci));
    for (const [event, target] of [["mouseenter", move.uci], ["mouseleave", null], ["focusin", move.uci], ["focusout", null]]) row.addEventListener(event, () => hint(target));
    return row;
  });
  const table = make("table", { class: `${has.value ? "has-value" : ""} ${has.reached ? "has-reached" : ""}` },
    make("thead", {}, make("tr", {}, ...head.filter(Boolean).map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
    make("tbody", {}, ...rows));
  root.replaceChildren(...(moves.length > 0 ? [table] : []));
  note.textContent = moves.length > 0 ? "" : answer.outcome ?? "No game in the book continues from here.";
}
