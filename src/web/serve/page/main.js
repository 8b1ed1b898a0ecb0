// The explorer's page: shows the position in the address, and its statistics.

import { Annotation } from "./annotation.js";
import { Board } from "./board.js";
import { byId, grouped, make } from "./dom.js";
import { Engine } from "./engine.js";
import * as filters from "./filters.js";
import { game as fetchGame, showGames, showHead, showPlayer } from "./games.js";
import { showMoveOrders } from "./move-orders.js";
import { showMoves } from "./moves.js";
import { Repertoire } from "./repertoire.js";
import { ask } from "./server.js";
import { showSources } from "./sources.js";
import { wireTheme } from "./theme.js";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/** Interval in milliseconds between progress requests while books are being opened. */
const POLL_INTERVAL = 400;

/** The initial position, the line of moves from it, and the number of these moves that are played on the board. */
const state = { fen: START, line: [], at: 0, game: null, gameId: null, player: null };
let newest = 0;
let playerSearch = null;
let status = null;
let shownLine = [];
/** The last position that the server accepted. */
let lastGood = { fen: START, line: [], at: 0 };
/** The moves up to the position on the board. */
let playedMoves = [];

const board = new Board(byId("board"), uci => play([uci]));
const engine = new Engine(play);
const annotation = new Annotation(goTo, () => state, () => showLine(shownLine));

const repertoire = new Repertoire({
  go: (fen, moves) => set(fen, moves, moves.length),
  play, place,
  line: () => playedMoves,
  draw: shapes => board.draw(shapes),
  turn: () => board.flip(true),
});

function place(moves = state.line.slice(0, state.at)) {
  const parameters = new URLSearchParams();
  if (state.fen !== START) parameters.set("fen", state.fen);
  if (moves.length > 0) parameters.set("play", moves.join(","));
  // Commas and slashes are valid in a query and easier to read.
  return parameters.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
}

const joined = (...parts) => parts.filter(Boolean).join("&");

function address() {
  const query = joined(place(), filters.chosen().toString());
  return query ? `?${query}` : location.pathname;
}

function readAddress() {
  const parameters = new URLSearchParams(location.search);
  const moves = (parameters.get("play") ?? "").split(",").filter(Boolean);
  const fen = parameters.get("fen") ?? START;
  const isOnLine = fen === state.fen && moves.every((move, index) => move === state.line[index]);
  if (!isOnLine) Object.assign(state, { line: moves, game: null, gameId: null });
  Object.assign(state, { fen, at: moves.length });
  filters.set(parameters);
}

/** Plays moves. Keeps the rest of the line if the moves follow it. */
function play(moves) {
  const now = state.line.slice(0, state.at);
  const all = [...now, ...moves];
  const isSame = all.every((move, index) => move === state.line[index]);
  if (!isSame) state.line = all;
  goTo(all.length);
}

function goTo(at) {
  const wanted = Math.max(0, Math.min(at, state.line.length));
  if (wanted === state.at && byId("opening").dataset.shown) return;
  state.at = wanted;
  history.pushState(null, "", address());
  update();
}

function set(fen, line, at, game = null, gameId = null) {
  Object.assign(state, { fen, line, at, game, gameId });
  history.pushState(null, "", address());
  update();
}

/** Requests the statistics of the position and shows them. */
async function update() {
  const number = ++newest;
  const query = place();
  try {
    const [answer] = await Promise.all([ask(`book?${joined(query, filters.chosen().toString())}`), repertoire.load(query)]);
    if (number !== newest) return;
    lastGood = { fen: state.fen, line: state.line, at: state.at };
    show(answer);
    showSources(joined(query, filters.chosen().toString()), uci => play([uci]));
    engine.update(query, answer.fen, answer.legal.length === 0);
    searchPlayer();
    annotation.update();
    const [orders, line] = await Promise.all([ask(`book/move-orders?${query}`), wholeLine(answer)]);
    if (number !== newest) return;
    showMoveOrders(byId("move-orders"), orders, START, order => set(order.fen, order.moves.map(move => move.uci), order.moves.length));
    showLine(line);
  } catch (error) {
    if (number !== newest) return;
    if (error.status === 503) await waitForBooks().then(update);
    else await explain(error, query);
  }
}

/** Shows why a position cannot be shown, beside the last one that can. */
async function explain(error, query) {
  const { fen, line, at } = lastGood;
  const isElsewhere = fen !== state.fen || place(line.slice(0, at)) !== query;
  if (error.status === 400 && isElsewhere) {
    Object.assign(state, { fen, line, at, game: null, gameId: null });
    history.replaceState(null, "", address());
    await update();
  }
  showMessage(error.message);
}

async function wholeLine(answer) {
  if (state.at === state.line.length) return answer.line;
  const whole = await ask(`book?${place(state.line)}`);
  return whole.line;
}

function showMessage(text) {
  byId("said").textContent = text;
}

function show(answer) {
  showMessage(answer.outcome ? `${answer.outcome}.` : "");
  const opening = byId("opening");
  opening.textContent = answer.opening ? `${answer.opening.eco} ${answer.opening.name}` : state.at === 0 && state.fen === START ? "Start position" : "Unnamed position";
  opening.dataset.shown = "yes";
  const { games } = answer.reached;
  byId("reached").textContent = games > 0 ? `${grouped(games)} ${games === 1 ? "game" : "games"} by all move orders` : "not in the book";
  byId("self-play").hidden = !answer.selfPlay;
  document.title = answer.opening ? `${answer.opening.name} – Tabia` : "Tabia";
  board.show({ fen: answer.fen, legal: answer.legal.map(move => move.uci), last: answer.line.at(-1)?.uci, check: answer.check });
  showMoves(byId("moves"), byId("moves-note"), answer, uci => play([uci]), uci => board.hint(uci));
  playedMoves = answer.line;
  repertoire.show(answer.fen);
  const hasGames = showGames(byId("games"), answer, openGame);
  byId("games-panel").hidden = !hasGames && !status?.games;
  showHead(state.game, state.gameId, () => { Object.assign(state, { game: null, gameId: null }); showHead(null); });
  if (state.at === state.line.length) showLine(answer.line);
  for (const [id, isOff] of [["first", state.at === 0], ["back", state.at === 0], ["next", state.at === state.line.length], ["last", state.at === state.line.length]]) byId(id).disabled = isOff;
}

function showLine(moves) {
  shownLine = moves;
  const fields = state.fen.split(" ");
  let ply = 2 * (Number(fields[5] ?? 1) - 1) + (fields[1] === "b" ? 1 : 0);
  byId("line").replaceChildren(...moves.map((move, index) => {
    const number = ply % 2 === 0 ? `${ply / 2 + 1}.` : index === 0 ? `${(ply + 1) / 2}…` : null;
    ply++;
    const isHere = index + 1 === state.at;
    const { kind, sign } = annotation.mark(index);
    return make("li", { class: index >= state.at ? "later" : "" }, number ? make("span", { class: "number" }, number) : null,
      make("button", { type: "button", class: kind, "aria-current": isHere ? "step" : null, onclick: () => goTo(index + 1) }, move.san + sign));
  }));
  byId("line").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

async function openGame(id) {
  try {
    const [found, here] = await Promise.all([fetchGame(id), ask(`book?${place()}`)]);
    const moves = found.moves.map(move => move.uci);
    // Show the game where it reaches the position, by any move order.
    const wanted = here.fen.split(" ").slice(0, 4).join(" ");
    const at = await findPly(found.fen, moves, wanted, state.at);
    set(found.fen, moves, at, found, id);
    byId("game").scrollIntoView({ block: "nearest" });
  } catch (error) {
    showMessage(error.message);
  }
}

/** Returns the ply at which a game reaches a position. Checks the plies near the current one first. */
async function findPly(fen, moves, wanted, near) {
  const plies = Array.from({ length: Math.min(moves.length, 80) + 1 }, (_, ply) => ply);
  plies.sort((one, other) => Math.abs(one - near) - Math.abs(other - near));
  for (const ply of plies.slice(0, 12)) {
    const parameters = new URLSearchParams(fen === START ? {} : { fen });
    if (ply > 0) parameters.set("play", moves.slice(0, ply).join(","));
    const answer = await ask(`book?${parameters}`);
    if (answer.fen.split(" ").slice(0, 4).join(" ") === wanted) return ply;
  }
  return 0;
}

/** Requests the games of the last player again, for the position on the board. */
async function searchPlayer() {
  if (state.player === null) return;
  playerSearch?.abort();
  playerSearch = new AbortController();
  try {
    await showPlayer(byId("player-games"), joined(state.player, place()), openGame, playerSearch.signal);
  } catch (error) {
    if (error.name !== "AbortError") showMessage(error.message);
  }
}

/** Shows progress until all books are open. */
async function waitForBooks() {
  for (;;) {
    status = await ask("status");
    const bar = byId("progress");
    bar.hidden = status.ready;
    byId("books").textContent = status.books.map(book => book.positions === undefined ? book.name : `${book.name} · ${grouped(book.positions)} positions`).join("   ");
    if (status.ready) return;
    const rows = status.books.map(book => {
      const words = { waiting: "is waiting", opening: "is opening", counting: `counting games: ${grouped(book.games ?? 0)}`, ready: "is ready" }[book.stage];
      return make("div", {}, make("label", {}, `${book.name} ${words} `, book.bytes ? make("progress", { max: book.bytes[1], value: book.bytes[0] }) : book.stage === "opening" ? make("progress") : ""));
    });
    bar.replaceChildren(...rows);
    await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL));
  }
}

function listenToKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const act = {
    ArrowLeft: () => goTo(state.at - 1), ArrowRight: () => goTo(state.at + 1),
    Home: () => goTo(0), End: () => goTo(state.line.length),
    f: () => board.flip(), g: () => repertoire.step(1), G: () => repertoire.step(-1), r: () => repertoire.focus(), a: () => engine.toggle(), p: openPaste, "?": () => byId("help").showModal(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function openPaste() {
  byId("paste-fault").textContent = "";
  byId("paste").showModal();
  byId("paste-text").focus();
}

async function submitPasted(event) {
  event.preventDefault();
  try {
    const text = byId("paste-text").value;
    const found = Object.assign(await ask("read", { method: "POST", body: text }), { text });
    byId("paste").close();
    const moves = found.moves.map(move => move.uci);
    const isGame = found.tags.length > 0 || found.fault;
    set(found.fen, moves, isGame ? 0 : moves.length, isGame ? found : null);
  } catch (error) {
    byId("paste-fault").textContent = error.message;
  }
}

function addListeners() {
  const steps = { first: () => goTo(0), back: () => goTo(state.at - 1), next: () => goTo(state.at + 1), last: () => goTo(state.line.length), flip: () => board.flip() };
  for (const [id, act] of Object.entries(steps)) byId(id).addEventListener("click", act);
  byId("paste-open").addEventListener("click", openPaste);
  byId("paste-close").addEventListener("click", () => byId("paste").close());
  byId("paste").addEventListener("submit", submitPasted);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("share").addEventListener("click", async () => {
    await navigator.clipboard?.writeText(location.href).then(() => showMessage("Link copied."), () => showMessage(location.href));
  });
  byId("player").addEventListener("submit", event => {
    event.preventDefault();
    state.player = new URLSearchParams({ player: byId("player-name").value, color: byId("player-color").value }).toString();
    searchPlayer();
  });
  addEventListener("popstate", () => { readAddress(); update(); });
  addEventListener("keydown", listenToKeys);
  wireTheme(byId("theme"));
}

async function begin() {
  addListeners();
  readAddress();
  board.show({ fen: START, legal: [] });
  await waitForBooks();
  if (status.facets) {
    filters.makeFilters(() => { history.pushState(null, "", address()); update(); });
    filters.set(new URLSearchParams(location.search));
  }
  byId("player").hidden = !status.games;
  byId("sources-panel").hidden = status.books.length < 2;
  if (status.repertoire) repertoire.open();
  await update();
}

begin();
