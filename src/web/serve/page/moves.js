// The moves of a position as a table.

import { byId, disclose, draw, grouped, make, percent, score } from "./dom.js";
import { save, saved } from "./theme.js";

/** Minimum length of a part of a bar, as a fraction of the bar, for which a percentage is shown. */
const LABEL_FROM = 0.16;
/**
 * The classes of the table's layouts, from the most spacious to the narrowest: the opening in its own column, below its
 * move, and with less space. The last one is used if the table must be scrolled.
 */
const LAYOUTS = ["", "stacked", "stacked tight", "stacked tight tightest", "stacked tight"];
/** The key of the table's settings in the browser's storage. */
const KEY = "moves";
/** A number of centipawns above all scores that are not mates. */
const MATE = 1e6;
/** The difference in centipawns that halves the strength of an arrow. */
const HALVING = 30;
/** The maximum number of arrows on the board, and the minimum strength of an arrow. */
const ARROWS = 6, WEAKEST = 0.08;

export function bar(results) {
  const parts = [["won", results.white, "White won"], ["drawn", results.draws, "drawn"], ["lost", results.black, "Black won"], ["open", results.undecided, "without a result"]];
  const there = parts.filter(([, games]) => games > 0);
  const words = there.map(([, games, what]) => `${what} ${percent(games / results.games)}`).join(", ");
  const element = make("div", { class: "bar", role: "img", "aria-label": words, title: there.map(([, games, what]) => `${grouped(games)} ${what}`).join(", ") });
  for (const [kind, games] of there) {
    const share = games / results.games;
    const part = make("i", { class: kind }, share >= LABEL_FROM && kind !== "open" ? make("span", {}, percent(share)) : "");
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

/** Returns the score of the side to move, from 0 to 1; `NaN` if no game has a result. */
export const points = ({ white, draws, black }, turn) => ((turn === "white" ? white : black) + draws / 2) / (white + draws + black);

function totalScore({ reached, turn }) {
  const share = points(reached, turn);
  return Number.isNaN(share) ? "" : percent(share);
}

/** Converts a score to centipawns. Mates are above or below all other scores. */
function centipawns(value) {
  if (!value) return -Infinity;
  return "mate" in value ? Math.sign(value.mate) * (MATE - Math.abs(value.mate)) : value.cp;
}

const NONE = { games: 0, white: 0, draws: 0, black: 0, undecided: 0 };

/** Returns a row for a move that the engine found but that no game of the book played. */
const candidate = (uci, { san }) => ({ uci, san, isNew: true, played: NONE, reached: NONE, score: -1, value: null, valueDepth: null, averageRating: null, opening: null });

const question = () => make("span", { title: "no game of the book played it" }, "?");

/** Returns a move with the engine's value, unless the value in the book is deeper. */
function valued(move, found) {
  return found && found.depth >= (move.valueDepth ?? 0) ? { ...move, value: found.score, valueDepth: found.depth, isLive: true } : move;
}

/** Returns the name of a book for users. */
export const bookTitle = name => name === "embedded" ? "embedded book (self-play)" : name;

/** Returns the value of a move, with its source. */
function valueCell({ value, valueDepth, valueBook, isLive }) {
  if (!value) return "";
  return make("span", { class: isLive ? "live" : null, title: `${isLive ? "the engine" : bookTitle(valueBook)}, depth ${valueDepth}` }, score(value));
}

/** Names the books that contain the values of the table. */
function valueSources({ moves, value }) {
  const names = new Set([value?.book, ...moves.filter(({ isLive }) => !isLive).map(({ valueBook }) => valueBook)].filter(Boolean));
  return names.size > 0 ? `Values: ${[...names].map(bookTitle).join(", ")}.` : "";
}

const sum = (moves, count) => moves.reduce((total, move) => total + count(move), 0);

/**
 * The columns after the move. `cell` and `total` return the contents for a move and for the position. `order`
 * returns the number by which the column is sorted. `has` returns whether a position has the column.
 */
const COLUMNS = [
  { id: "played", title: "Played", kind: "right of-played", order: move => move.played.games,
    cell: move => move.isNew ? question() : grouped(move.played.games), total: answer => grouped(sum(answer.moves, move => move.played.games)) },
  { id: "reached", title: "Reached", kind: "right", order: move => move.reached.games,
    has: answer => answer.moves.some(move => move.reached.games !== move.played.games),
    cell: move => {
      if (move.isNew) return question();
      const transposed = move.reached.games - move.played.games;
      return [grouped(move.reached.games), transposed > 0 ? make("span", { class: "more", title: `${grouped(transposed)} games reached it by other move orders` }, ` +${grouped(transposed)}`) : ""];
    },
    total: answer => grouped(answer.reached.games) },
  { id: "results", title: "Results after it", kind: "wide-bar", cell: move => move.isNew ? "" : bar(move.reached), total: answer => answer.reached.games > 0 ? bar(answer.reached) : "" },
  { id: "score", title: "Score", kind: "right of-score", order: move => move.score, cell: move => move.isNew ? "" : percent(move.score), total: totalScore },
  { id: "value", title: "Value", kind: "right of-value", order: move => centipawns(move.value), has: answer => answer.moves.some(move => move.value !== null),
    cell: valueCell, total: ({ value }) => value ? valueCell({ value: value.score, valueDepth: value.depth, valueBook: value.book }) : "" },
  { id: "rating", title: "Rating", kind: "right rating", order: move => move.averageRating ?? -Infinity,
    has: answer => answer.moves.some(move => move.averageRating !== null), cell: move => move.averageRating ?? "", total: () => "" },
  { id: "years", title: "Years", kind: "of-years", has: answer => answer.moves.some(move => move.history?.length > 1),
    cell: move => move.history?.length > 1 ? years(move.history) : "", total: answer => answer.history?.length > 1 ? years(answer.history) : "" },
  { id: "name", title: "Opening", kind: "name", cell: (move, answer) => nameAfter(move.opening, answer.opening), total: () => "" },
];

/** Functions that return the strength of the arrow of a move, from 0 to 1. */
const STRENGTHS = {
  share: (move, moves) => move.played.games / Math.max(1, ...moves.map(other => other.played.games)),
  value: (move, moves) => move.value ? 2 ** ((centipawns(move.value) - Math.max(...moves.map(other => centipawns(other.value)))) / HALVING) : 0,
};

/** Returns the events of an element that stands for a move: `hint` marks the move under the pointer or the focus. */
export const hinting = (uci, hint) => ({ onmouseenter: () => hint(uci), onmouseleave: () => hint(null), onfocusin: () => hint(uci), onfocusout: () => hint(null) });

export class MoveTable {
  #page; #width = 0; #answer = null; #filters = ""; #engine = { values: new Map(), candidates: [] };
  #choices = { hidden: [], arrows: "", sort: null, ascending: false };

  /**
   * `page` has `play` (plays a move), `hint` (marks the move under the pointer or `null`), `draw` (draws arrows on the
   * board), and `shown` (called after the table was filled).
   */
  constructor(page) {
    this.#page = page;
    try {
      Object.assign(this.#choices, JSON.parse(saved(KEY) ?? "{}"));
    } catch { /* Choices that cannot be read are replaced by the next ones. */ }
    const form = byId("view");
    const box = ({ id, title }) => make("label", {}, make("input", { type: "checkbox", name: id, checked: !this.#choices.hidden.includes(id) }), title);
    const arrows = make("select", { name: "arrows" }, ...[["", "none"], ["share", "by games"], ["value", "by value"]].map(([value, text]) => make("option", { value }, text)));
    arrows.value = this.#choices.arrows;
    form.append(make("fieldset", {}, make("legend", {}, "Columns"), ...COLUMNS.map(box)), make("label", {}, "Arrows on the board", arrows));
    form.addEventListener("change", () => {
      this.#choose({ arrows: arrows.value, hidden: COLUMNS.map(({ id }) => id).filter(id => !form.elements[id].checked) });
    });
    form.addEventListener("submit", event => event.preventDefault());
    disclose(byId("view-open"), form);
    new ResizeObserver(() => { if (byId("moves").clientWidth !== this.#width) this.fit(); }).observe(byId("moves"));
  }

  /** Shows the moves of a position. `filters` describes the filters; it is empty if there are none. */
  show(answer, filters) {
    [this.#answer, this.#filters] = [answer, filters];
    this.#render();
  }

  /**
   * Shows the engine's values together with those of the book. `values` maps moves in UCI notation to `san`,
   * `score` and `depth`. `candidates` are moves that get a row even if no game played them.
   */
  compare(values, candidates) {
    this.#engine = { values, candidates };
    if (!this.#answer) return;
    const rows = new Map([...byId("moves").querySelectorAll("tbody tr")].map(row => [row.dataset.uci, row]));
    const answer = this.#together();
    const { moves } = answer;
    const cell = uci => rows.get(uci)?.querySelector(".of-value");
    // If there is no new row or column, update only the cells, so that no row moves under the pointer.
    if (moves.length === rows.size && moves.every(({ uci, value }) => rows.has(uci) && (cell(uci) || !value || this.#choices.hidden.includes("value")))) {
      for (const move of moves) cell(move.uci)?.replaceChildren(valueCell(move));
      this.#note(answer);
      this.fit();
      this.#reorder(moves);
      this.#draw(moves);
      return;
    }
    const focused = document.activeElement?.closest("#moves tr")?.dataset.uci;
    this.#render();
    if (focused) byId("moves").querySelector(`[data-uci="${focused}"] button`)?.focus({ preventScroll: true });
  }

  /** Selects the most spacious layout in which all columns fit. If there is none, the table can be scrolled. */
  fit() {
    const box = byId("moves"), table = box.firstElementChild;
    this.#width = box.clientWidth;
    if (!table) return;
    box.style.setProperty("--shown-width", `${this.#width}px`);
    for (const layout of LAYOUTS) {
      table.className = layout;
      if (table.offsetWidth <= this.#width) break;
    }
    const names = [...table.querySelectorAll(".stacked .name > span")].map(name => [name, name.offsetHeight]);
    for (const [name, height] of names) name.closest("tr").style.setProperty("--name-height", `${height}px`);
  }

  /** Sorts the displayed rows again after the values have changed. Waits while the pointer is on a row. */
  #reorder(moves) {
    const body = byId("moves").querySelector("tbody");
    if (this.#choices.sort !== "value" || body.matches(":hover")) return;
    const rows = new Map([...body.rows].map(row => [row.dataset.uci, row]));
    const sorted = this.#sorted(moves).map(({ uci }) => rows.get(uci));
    if (sorted.every((row, index) => row === body.rows[index])) return;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    body.append(...sorted);
    focused?.focus({ preventScroll: true });
  }

  /** Returns the statistics of the position with the engine's values and moves. */
  #together() {
    const { values, candidates } = this.#engine;
    const known = new Set(this.#answer.moves.map(({ uci }) => uci));
    const added = candidates.filter(uci => values.has(uci) && !known.has(uci)).map(uci => candidate(uci, values.get(uci)));
    return { ...this.#answer, moves: [...this.#answer.moves, ...added].map(move => valued(move, values.get(move.uci))) };
  }

  #render() {
    const answer = this.#together();
    const { moves } = answer;
    const columns = COLUMNS.filter(({ id, has }) => (has?.(answer) ?? true) && !this.#choices.hidden.includes(id));
    const cells = content => columns.map(column => make("td", { class: column.kind }, ...[content(column)].flat()));
    const table = make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Move"), ...columns.map(column => this.#head(column)))),
      make("tbody", { onmouseleave: () => this.#reorder(this.#together().moves) }, ...this.#sorted(moves).map(move => this.#row(move, cells(column => column.cell(move, answer))))),
      make("tfoot", {}, make("tr", {}, make("td", {}, "All"), ...cells(column => column.total(answer)))));
    byId("moves").replaceChildren(...(moves.length > 0 ? [table] : []));
    this.#note(answer);
    this.#draw(moves);
    this.#page.shown();
    this.fit();
  }

  /** Says why there are no moves, or which books contain the displayed values. */
  #note(answer) {
    const hasValues = byId("moves").querySelector("td.of-value") !== null;
    const fault = answer.outcome ?? (this.#filters ? `No game that passes the filters continues from here: ${this.#filters}.` : "No game in the book continues from here.");
    byId("moves-note").textContent = this.#answer.moves.length === 0 ? fault : hasValues ? valueSources(answer) : "";
  }

  #head({ id, title, kind, order }) {
    const { sort, ascending } = this.#choices;
    const isSorted = order && sort === id;
    const next = !isSorted ? { sort: id, ascending: false } : ascending ? { sort: null, ascending: false } : { ascending: true };
    const act = () => {
      this.#choose(next);
      byId("moves").querySelector(`[data-sort=${id}]`)?.focus();
    };
    const content = order ? make("button", { type: "button", "data-sort": id, onclick: act }, title + (!isSorted ? "" : ascending ? " ▴" : " ▾")) : title;
    return make("th", { scope: "col", class: kind, "aria-sort": isSorted ? (ascending ? "ascending" : "descending") : null }, content);
  }

  #row(move, cells) {
    const events = { onclick: () => this.#page.play(move.uci), ...hinting(move.uci, this.#page.hint) };
    return make("tr", { "data-uci": move.uci, class: move.isNew ? "new" : null, ...events }, make("td", {}, make("button", { type: "button" }, move.san)), ...cells);
  }

  /** Returns the moves in the selected order, or else in the order of the book. */
  #sorted(moves) {
    const order = COLUMNS.find(({ id }) => id === this.#choices.sort)?.order;
    if (!order) return moves;
    const sign = this.#choices.ascending ? 1 : -1;
    return [...moves].sort((one, other) => order(one) === order(other) ? 0 : sign * (order(one) - order(other)));
  }

  /** Draws arrows for the strongest moves. */
  #draw(moves) {
    const strength = STRENGTHS[this.#choices.arrows];
    const found = strength ? moves.map(move => ({ move, opacity: strength(move, moves) })).filter(({ opacity }) => opacity >= WEAKEST) : [];
    found.sort((one, other) => other.opacity - one.opacity);
    this.#page.draw(found.slice(0, ARROWS).map(({ move: { uci }, opacity }) => ({ from: uci.slice(0, 2), to: uci.slice(2, 4), kind: "of-table", opacity: opacity.toFixed(2) })));
  }

  #choose(choices) {
    Object.assign(this.#choices, choices);
    save(KEY, JSON.stringify(this.#choices));
    if (this.#answer) this.#render();
  }
}
