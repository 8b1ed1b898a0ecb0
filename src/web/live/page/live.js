// The live page of a match: boards, standings, the sequential test and the last results.

import { Board, piecesOf } from "./board.js";
import { byId, make } from "./dom.js";
import { after } from "./replay.js";
import { fillTable, pairingPanel, scoreCurve, scoreText, showTest } from "./standings.js";
import { save, saved, wireTheme } from "./theme.js";

const BOARDS_KEY = "live-boards";
const BOARD_COUNTS = [0, 1, 2, 4, 6, 9, 12, 16, 25, 36, 64];
const DEFAULT_BOARDS = 4;
/** Maximum numbers of plies and of results to show. */
const [LAST_PLIES, LAST_RESULTS] = [12, 200];
/** Maximum number of points on the curve of the sequential test. */
const CURVE_POINTS = 400;
const TICK_MS = 200;
const SIDES = ["White", "Black"];

/** Formats a time given in milliseconds; times below twenty seconds have tenths. */
function timeText(ms) {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 20) return seconds.toFixed(1);
  const [minutes, rest] = [Math.floor(seconds / 60), String(Math.floor(seconds % 60)).padStart(2, "0")];
  return `${minutes}:${rest}`;
}

/** A board with both engines, their clocks and evaluations, and the last moves of a game. */
class LiveBoard {
  #at; #board; #sides; #moves; #end; #chart; #game = null; #pieces; #played = []; #read = 0;

  constructor(at) {
    this.#at = at;
    const board = make("div");
    this.#board = new Board(board, () => {});
    this.#sides = SIDES.map(side => {
      const [name, score, clock] = [make("b", {}), make("span", {}), make("span", { class: "clock" })];
      return { row: make("div", { class: "side" }, name, score, clock), name, score, clock, side };
    });
    [this.#moves, this.#end, this.#chart] = [make("p", { class: "moves" }), make("p", { class: "end" }), make("div")];
    const [white, black] = this.#sides;
    this.root = make("div", { class: "panel game", role: "group", hidden: true }, black.row, board, white.row, this.#moves, this.#end, this.#chart);
  }

  update(game) {
    if (game.from === 0) [this.#pieces, this.#played] = [piecesOf(game.fen), []];
    // An event that does not continue the moves is from an earlier connection.
    if (game.from !== this.#played.length) return;
    for (const move of game.moves) {
      this.#pieces = after(this.#pieces, move.uci);
      this.#played.push(move);
    }
    [this.#game, this.#read] = [game, performance.now()];
    this.#show();
  }

  /** The side (0 or 1) that made a move. */
  #mover(at) {
    return (at + (this.#game.fen.split(" ")[1] === "b" ? 1 : 0)) % 2;
  }

  #show() {
    const [game, played] = [this.#game, this.#played];
    this.root.hidden = false;
    this.root.setAttribute("aria-label", `Board ${this.#at + 1}: game ${game.number}, ${game.names.join(" against ")}`);
    const last = played.at(-1);
    const turn = this.#mover(played.length);
    this.#board.show({ pieces: this.#pieces, turn: SIDES[turn].toLowerCase(), legal: [], last: last?.uci ?? "", check: /[+#]/.test(last?.san ?? "") });
    this.#sides.forEach(({ name, score }, side) => {
      name.textContent = name.title = game.names[side];
      const found = played.findLast((move, at) => this.#mover(at) === side && move.score !== null);
      score.textContent = found ? `${scoreText(side === 0 ? found.score : -found.score)}/${found.depth}` : "";
    });
    this.#moves.textContent = this.#line();
    this.#end.textContent = game.result ? `${game.result}: ${game.detail}` : "";
    this.#draw();
    this.tick();
  }

  /** Returns the last moves with their numbers. */
  #line() {
    const first = Number(this.#game.fen.split(" ")[5]);
    const shift = this.#mover(0);
    const begin = Math.max(0, this.#played.length - LAST_PLIES);
    const words = this.#played.slice(begin).map(({ san }, i) => {
      const half = begin + i + shift;
      const number = first + (half >> 1);
      return half % 2 === 0 ? `${number}. ${san}` : i === 0 ? `${number}… ${san}` : san;
    });
    return words.join(" ");
  }

  /** Draws the evaluations of both engines, in pawns for White. */
  #draw() {
    const scores = [0, 1].map(side => this.#played.map(({ score }, at) => this.#mover(at) === side ? score : null));
    this.#chart.replaceChildren(scoreCurve(scores, `Evaluations of game ${this.#game.number} by move, in pawns for White`).svg);
  }

  /** Shows the clocks as they are now. Without a clock, shows the time used. */
  tick() {
    const game = this.#game;
    if (!game) return;
    const turn = game.thinking === null ? null : this.#mover(this.#played.length);
    this.#sides.forEach(({ row, clock }, side) => {
      const thinking = side === turn ? game.thinking + performance.now() - this.#read : 0;
      const left = game.left[side];
      row.classList.toggle("thinking", side === turn);
      clock.textContent = left === null ? timeText(game.used[side] + thinking) : timeText(left - thinking);
    });
  }
}

let [boards, events, test, curve, isOver] = [[], null, null, [], false];

function showStandings(news) {
  const { scheduled, finished, round, table, pairing } = news;
  byId("progress").textContent = `${finished} of ${scheduled} games have ended.`;
  byId("round").textContent = round;
  fillTable(byId("standings"), table);
  byId("pairing").hidden = pairing === null;
  if (pairing) byId("pairing").replaceChildren(pairingPanel(pairing));
  test = news.test;
  showCurve();
}

/** Shows the sequential test. A long curve is thinned out, but keeps its last point. */
function showCurve() {
  if (!test || curve.length === 0) return;
  const step = Math.ceil(curve.length / CURVE_POINTS);
  const points = curve.filter((_, at) => (curve.length - 1 - at) % step === 0);
  showTest(byId("test"), { ...test, curve: points });
}

function addCurve({ from, llr }) {
  curve = [...curve.slice(0, from), ...llr];
  showCurve();
}

function addResults(rows) {
  const list = byId("results");
  for (const { number, names, result, detail } of rows) {
    list.prepend(make("tr", {}, make("td", {}, number), make("td", {}, names[0]), make("td", {}, names[1]), make("td", {}, result), make("td", {}, detail)));
  }
  while (list.children.length > LAST_RESULTS) list.lastChild.remove();
}

/** Connects to the server, with as many boards as the user has chosen. */
function connect() {
  events?.close();
  const count = Number(byId("boards").value);
  boards = Array.from({ length: count }, (_, at) => new LiveBoard(at));
  byId("games").replaceChildren(...boards.map(board => board.root));
  events = new EventSource(`events?boards=${count}`);
  const on = (name, react) => events.addEventListener(name, event => react(JSON.parse(event.data)));
  events.onerror = () => { byId("status").textContent = events.readyState === EventSource.CLOSED ? "The server refused the connection; reload the page" : "Connection lost; trying again"; };
  on("match", ({ event, pgn }) => {
    byId("status").textContent = "Live";
    byId("title").textContent = document.title = event;
    byId("pgn").hidden = !pgn;
    byId("results").replaceChildren();
  });
  on("standings", showStandings);
  on("curve", addCurve);
  on("results", addResults);
  on("board", game => boards[game.at]?.update(game));
  on("over", ({ reason }) => {
    events.close();
    isOver = true;
    byId("status").textContent = reason;
  });
}

const choice = byId("boards");
const wanted = Number(saved(BOARDS_KEY) ?? DEFAULT_BOARDS);
choice.append(...BOARD_COUNTS.map(count => make("option", { value: count, selected: count === wanted }, count)));
if (!BOARD_COUNTS.includes(wanted)) choice.value = DEFAULT_BOARDS;
choice.addEventListener("change", () => {
  save(BOARDS_KEY, choice.value);
  if (!isOver) connect();
});
wireTheme(byId("theme"));
setInterval(() => boards.forEach(board => board.tick()), TICK_MS);
connect();
