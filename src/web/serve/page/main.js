// The explorer's page: shows the position in the address, and its statistics.

import { Annotation } from "./annotation.js";
import { Board } from "./board.js";
import { byId, grouped, make } from "./dom.js";
import { Engine } from "./engine.js";
import * as filters from "./filters.js";
import { keepFocus } from "./focus.js";
import { GameTree, START } from "./game-tree.js";
import { game as fetchGame, showGames } from "./games.js";
import { showMoveOrders } from "./move-orders.js";
import { MoveTable } from "./moves.js";
import { hintFor } from "./notes.js";
import { OpenGame } from "./open-game.js";
import { PatternSearch } from "./pattern.js";
import { PlayerSearch } from "./player.js";
import { Repertoire } from "./repertoire.js";
import { ask } from "./server.js";
import { openSources, showSources } from "./sources.js";
import { wireTheme } from "./theme.js";
import { numberOf, plyOf } from "./variations.js";

/** Interval in milliseconds between progress requests while books are being opened. */
const POLL_INTERVAL = 400;

/** The initial position, the line of moves from it, and the number of these moves that are played on the board. */
const state = { fen: START, line: [], at: 0 };
let newest = 0;
let status = null;
let shownLine = [];
/** The statistics of the position on the board. */
let shownAnswer = null;
/** The last position that the server accepted. */
let lastGood = { fen: START, line: [], at: 0, tree: null };
/** The moves up to the position on the board. */
let playedMoves = [];

const board = new Board(byId("board"), uci => play([uci]));
const engine = new Engine({ play, compare: (values, candidates) => table.compare(values, candidates) });
const opened = new OpenGame({
  moves: () => state.line.slice(0, state.at),
  go: visit, copy,
  changed: () => history.pushState(null, "", address()),
});
const annotation = new Annotation({
  go: visit, show: showVariation,
  place: () => ({ ...state, tree: opened.tree }),
  changed: () => showLine(shownLine),
});

const repertoire = new Repertoire({
  go: (fen, moves) => set(fen, moves, moves.length),
  play, place,
  line: () => playedMoves,
  draw: shapes => drawLayer("repertoire", shapes),
  turn: () => board.flip(true),
  marked: () => table.fit(),
});

const table = new MoveTable({
  play: uci => play([uci]),
  hint: uci => board.hint(uci),
  draw: shapes => drawLayer("table", shapes),
  shown: () => repertoire.show(shownAnswer.fen),
});
const player = new PlayerSearch({
  place, filters: filters.chosen, open: openGame, say: showMessage, changed: pushAddress,
  answer: () => shownAnswer,
  play: uci => play([uci]),
  hint: uci => board.hint(uci),
});
const pattern = new PatternSearch({ board: () => shownAnswer.fen, filters: filters.chosen, open: openGame, changed: pushAddress });
const layers = { table: [], repertoire: [] };

/** Draws the shapes of a layer on the board, together with those of the other layers. */
function drawLayer(name, shapes) {
  layers[name] = shapes;
  board.draw(Object.values(layers).flat());
}

function place(moves = state.line.slice(0, state.at)) {
  const parameters = new URLSearchParams();
  if (state.fen !== START) parameters.set("fen", state.fen);
  if (moves.length > 0) parameters.set("play", moves.join(","));
  // Commas and slashes are valid in a query and easier to read.
  return parameters.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
}

const joined = (...parts) => parts.filter(Boolean).join("&");

function address() {
  const query = joined(place(), ...[filters.chosen(), player.parameters, pattern.parameters].map(String));
  return (query ? `?${query}` : location.pathname) + opened.fragment;
}

/** Adds the address to the history if it has changed. */
function pushAddress() {
  if (new URL(address(), location.href).href !== location.href) history.pushState(null, "", address());
}

/** Shows the position, the game, the filters and the searches that the address contains. */
async function readAddress() {
  const parameters = new URLSearchParams(location.search);
  const wanted = location.href;
  let fault = null;
  await opened.restore(location.hash).catch(error => { fault = error; });
  if (wanted !== location.href) return;
  const fen = parameters.get("fen") ?? opened.tree?.fen ?? START;
  if (fault || fen !== opened.tree?.fen) opened.open(null);
  const moves = (parameters.get("play") ?? "").split(",").filter(Boolean);
  const isOnLine = fen === state.fen && startsWith(state.line, moves) && opened.contains(state.line);
  Object.assign(state, { fen, line: isOnLine ? state.line : opened.through(moves), at: moves.length });
  filters.set(parameters);
  player.restore(parameters);
  pattern.restore(parameters);
  if (location.hash !== opened.fragment) history.replaceState(null, "", address());
  await update();
  if (fault) showMessage(`Cannot show the game of this address: ${fault.message}`);
}

const startsWith = (line, moves) => moves.every((move, index) => move === line[index]);

function play(moves) {
  visit([...state.line.slice(0, state.at), ...moves]);
}

/** Shows the position after moves. Keeps the line if it begins with them, unless the open game has changed. */
function visit(moves, isChanged = false) {
  if (isChanged || !startsWith(state.line, moves)) state.line = opened.through(moves);
  state.at = moves.length;
  pushAddress();
  update();
}

function goTo(at) {
  const wanted = Math.max(0, Math.min(at, state.line.length));
  if (wanted === state.at && byId("opening").dataset.shown) return;
  visit(state.line.slice(0, wanted));
}

function set(fen, line, at, tree = null, id = null) {
  opened.open(tree, id);
  Object.assign(state, { fen, line, at });
  history.pushState(null, "", address());
  return update();
}

/** Shows a line of the start position. An open game with this start gets it as a variation. */
function showLineFrom(fen, moves) {
  if (fen === opened.tree?.fen) visit(moves);
  else set(fen, moves, moves.length);
}

/** Adds a line to the open game, or to a new one with the moves `main`, and shows its position after `at` plies. */
function showVariation(main, line, at) {
  if (!opened.tree) opened.open(GameTree.ofLine(state.fen, main));
  opened.add(line);
  visit(line.slice(0, at).map(move => move.uci), true);
}

/** Requests the statistics of the position and shows them. */
async function update() {
  const number = ++newest;
  const query = place();
  try {
    const [answer] = await Promise.all([ask(`book?${joined(query, filters.chosen().toString())}`), repertoire.load(query)]);
    if (number !== newest) return;
    if (opened.add(answer.line)) {
      state.line = opened.through(answer.line.map(move => move.uci));
      history.replaceState(null, "", address());
    }
    lastGood = { fen: state.fen, line: state.line, at: state.at, tree: opened.tree };
    shownAnswer = answer;
    // The address may encode castling as the king capturing its own rook.
    state.line = [...answer.line.map(move => move.uci), ...state.line.slice(state.at)];
    show(answer);
    showSources(joined(query, filters.chosen().toString()), { play: uci => play([uci]), hint: uci => board.hint(uci) });
    engine.update(query, answer.fen, answer.legal.length === 0);
    player.update();
    annotation.update();
    const [orders, line] = await Promise.all([ask(`book/move-orders?${query}`), wholeLine(answer)]);
    if (number !== newest) return;
    showMoveOrders(byId("move-orders"), orders, START, order => showLineFrom(order.fen, order.moves.map(move => move.uci)));
    showLine(line);
  } catch (error) {
    if (number !== newest) return;
    if (error.status === 503) await waitForBooks().then(update);
    else await explain(error, query);
  }
}

/** Shows the last valid position, and the reason why the requested one cannot be shown. */
async function explain(error, query) {
  const { fen, line, at, tree } = lastGood;
  const isElsewhere = fen !== state.fen || place(line.slice(0, at)) !== query;
  if (error.status === 400 && isElsewhere) {
    if (tree !== opened.tree) opened.open(tree);
    Object.assign(state, { fen, line, at });
    history.replaceState(null, "", address());
    await update();
  }
  showMessage(error.message);
}

async function wholeLine(answer) {
  if (opened.tree && opened.contains(state.line)) return opened.tree.through(state.line);
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
  const isFiltered = filters.describe() !== "";
  byId("reached").textContent = games > 0 ? `${grouped(games)} ${games === 1 ? "game" : "games"} by all move orders` : isFiltered ? "no game passes the filters" : "not in the book";
  byId("self-play").hidden = !answer.selfPlay;
  Object.assign(byId("report"), { href: `report?${joined(place(), filters.chosen().toString())}`, hidden: games === 0 });
  document.title = answer.opening ? `${answer.opening.name} – Tabia` : "Tabia";
  board.show({ fen: answer.fen, legal: answer.legal.map(move => move.uci), last: answer.line.at(-1)?.uci, check: answer.check });
  playedMoves = answer.line;
  table.show(answer, filters.describe());
  const hasGames = showGames(byId("games"), answer, openGame);
  byId("games-panel").hidden = !hasGames && !status?.games;
  opened.show();
  if (state.at === state.line.length) showLine(answer.line);
  for (const [id, isOff] of [["first", state.at === 0], ["back", state.at === 0], ["next", state.at === state.line.length], ["last", state.at === state.line.length]]) byId(id).ariaDisabled = String(isOff);
}

function showLine(moves) {
  shownLine = moves;
  const ply = plyOf(state.fen);
  byId("line").replaceChildren(...moves.map((move, index) => {
    const number = numberOf(ply + index, index === 0);
    const isHere = index + 1 === state.at;
    const { kind, sign } = annotation.mark(index);
    return make("li", { class: index >= state.at ? "later" : "" }, number ? make("span", { class: "number" }, number) : null,
      make("button", { type: "button", class: kind, title: hintFor(sign), "aria-current": isHere ? "step" : null, onclick: () => goTo(index + 1) }, move.san + sign));
  }));
  byId("line").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/** Opens a game at a ply or, without one, where it reaches the position on the board. */
async function openGame(id, ply = null) {
  try {
    const [found, here] = await Promise.all([fetchGame(id), ask(`book?${place()}`)]);
    const moves = found.moves.map(move => move.uci);
    const tree = new GameTree(found);
    // Show the game at the point where it reaches the position, by any move order.
    const wanted = here.fen.split(" ").slice(0, 4).join(" ");
    const at = ply ?? await findPly(found.fen, moves, wanted, state.at);
    await set(found.fen, moves, at, tree, id);
    byId("board").scrollIntoView({ block: "nearest" });
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

/** Shows progress until all books are open. */
async function waitForBooks() {
  for (;;) {
    status = await ask("status");
    const bar = byId("progress");
    bar.hidden = status.ready;
    byId("books").replaceChildren(...status.books.map(({ name, positions }) => {
      const text = positions === undefined ? name : `${name} · ${grouped(positions)} positions`;
      return make("li", { title: text }, text);
    }));
    if (status.ready) return;
    const rows = status.books.map(book => {
      const words = { waiting: "is waiting", opening: "is opening", counting: `counting games: ${grouped(book.games ?? 0)}`, ready: "is ready" }[book.stage];
      return make("div", {}, make("label", {}, `${book.name} ${words} `, book.bytes ? make("progress", { max: book.bytes[1], value: book.bytes[0] }) : book.stage === "opening" ? make("progress") : ""));
    });
    bar.replaceChildren(...rows);
    await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL));
  }
}

/** Elements that need the keys themselves. Lists need them too, except the one that the mouse has used last. */
const TAKES_KEYS = "input:not([type=checkbox]), textarea, dialog";
let mouseList = null;

/** Leaves a field for the button that uses its text. */
function leaveField(field) {
  const form = field.closest("form");
  // The field stores its text when it loses the focus.
  field.blur();
  (form?.querySelector("[type=submit]:enabled") ?? byId("tree").querySelector("[aria-current]") ?? byId("moves-title")).focus({ preventScroll: true });
}

function listenToKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const takesKeys = event.target.closest(TAKES_KEYS);
  if (event.key === "Escape" && takesKeys?.matches("main input")) leaveField(takesKeys);
  const list = event.target.closest("select");
  if (takesKeys || (list && list !== mouseList)) return;
  const act = {
    ArrowLeft: () => goTo(state.at - 1), ArrowRight: () => goTo(state.at + 1),
    Home: () => goTo(0), End: () => goTo(state.line.length),
    f: () => board.flip(), c: () => opened.focus(), g: () => repertoire.step(1), G: () => repertoire.step(-1), r: () => repertoire.focus(), a: () => engine.toggle(), p: openPaste, "?": () => byId("help").showModal(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Copies text, or shows it where the user can copy it, because some browsers allow copying only on HTTPS. */
async function copy(text, name = "PGN") {
  try {
    await navigator.clipboard.writeText(text);
    showMessage(`${name} copied.`);
  } catch {
    openPaste();
    byId("paste-text").value = text;
    byId("paste-text").select();
  }
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
    const found = await ask("read", { method: "POST", body: text });
    const tree = new GameTree(found, text);
    byId("paste").close();
    const moves = found.moves.map(move => move.uci);
    const isGame = found.tags.length > 0 || found.fault || tree.isAnnotated;
    set(found.fen, moves, isGame ? 0 : moves.length, isGame ? tree : null);
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
  byId("share").addEventListener("click", () => copy(location.href, "Link"));
  addEventListener("popstate", readAddress);
  addEventListener("keydown", listenToKeys);
  addEventListener("pointerdown", ({ target }) => { mouseList = target.closest("select") ?? target.closest("label")?.control; }, true);
  addEventListener("keydown", event => { if (event.key === "Tab") mouseList = null; }, true);
  keepFocus();
  wireTheme(byId("theme"));
}

async function begin() {
  addListeners();
  board.show({ fen: START, legal: [] });
  await waitForBooks();
  engine.limit(status.searches);
  if (status.facets) filters.makeFilters(() => { pushAddress(); update(); pattern.update(); });
  byId("player").hidden = !status.games;
  byId("pattern-panel").hidden = !status.facets;
  if (status.books.length > 1) openSources();
  if (status.repertoire) repertoire.open();
  await readAddress();
}

begin();
