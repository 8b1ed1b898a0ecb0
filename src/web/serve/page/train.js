// The training page, which asks for the moves of a repertoire. The server chooses questions and judges
// answers.

import { Board } from "./board.js";
import { byId, grouped, make, percent, score } from "./dom.js";
import { CLIENT, ask } from "./server.js";
import { wireTheme } from "./theme.js";
import { numbered } from "./variations.js";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/** Interval in milliseconds between requests while books are being opened. */
const POLL_INTERVAL = 400;
/** Duration in seconds of the search for the best reply to a wrong move. */
const SEARCH_SECONDS = 2;
/** The maximum number of plies shown of its line. */
const LINE_PLIES = 8;
const PIECES = { P: "pawn", N: "knight", B: "bishop", R: "rook", Q: "queen", K: "king" };
const DAY = 86400, HOUR = 3600, MINUTE = 60;

const board = new Board(byId("board"), answer);
let question = null;
let isBusy = false;
let search = null;

/** Runs a request, and shows its error. Ignores requests while another one runs. */
async function request(address, show) {
  if (isBusy) return;
  isBusy = true;
  try {
    show(await ask(address, { method: "POST" }));
  } catch (error) {
    if (error.status === 409) await load().catch(() => {});
    say(error.message, "wrong");
  } finally {
    isBusy = false;
  }
}

function say(text, kind = "") {
  byId("said").className = kind;
  byId("said").textContent = text;
}

function span(seconds) {
  const [length, unit] = seconds >= DAY ? [Math.floor(seconds / DAY), "day"] : seconds >= HOUR ? [Math.floor(seconds / HOUR), "hour"] : [Math.ceil(seconds / MINUTE), "minute"];
  return `${length} ${unit}${length === 1 ? "" : "s"}`;
}

/** Shows the state of the training, and its open question if there is one. */
function show(training) {
  byId("about").textContent = `Repertoire for ${training.side}, opponents as in ${training.reference}`;
  const rows = [["To repeat", training.due], ["New", training.new], ["Learnt", training.learnt], ["This session", `${training.right} right, ${training.wrong} wrong of ${training.answers}`]];
  byId("progress").replaceChildren(...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("additions").replaceChildren(...training.additions.map(line => make("li", {}, line)));
  byId("additions-panel").hidden = training.additions.length === 0;
  byId("additions-file").setAttribute("href", "training/additions");
  question = training.question;
  if (question) showQuestion();
  else board.forbid();
  enable();
  return training;
}

function showQuestion() {
  byId("task").textContent = question.ends ? "Your repertoire ends here. What would you play?" : question.repeated ? "Your move? (again)" : "Your move?";
  byId("line").textContent = numbered(question.line, question.start) || "The start of your repertoire";
  board.show({ fen: question.fen, legal: question.legal.map(move => move.uci), last: question.line.at(-1)?.uci, check: question.check });
  board.hint(null);
  say("");
  byId("facts").replaceChildren();
  byId("reply").textContent = "";
  stopSearch();
  byId("refutation").textContent = "";
}

function enable() {
  const isOpen = question !== null;
  byId("hint").disabled = byId("skip").disabled = !isOpen;
  byId("next").disabled = isOpen;
  byId("next").textContent = "Next";
}

function next(isSkipped = false) {
  return request(`training/next${isSkipped ? "?skip=true" : ""}`, training => {
    show(training);
    if (training.question) return;
    byId("task").textContent = "Nothing is due.";
    say(training.nextDue === null ? "" : `The next position is due in ${span(training.nextDue)}.`);
  });
}

function hint() {
  if (!question) return;
  request(`training/hint?question=${question.number}`, ({ piece, move }) => {
    if (piece) say(`A ${PIECES[piece]} moves.`);
    else if (move) { say(`The move is ${move.san}.`); board.hint(move.uci); }
    else say("The reference has no move here.");
  });
}

const VERDICTS = {
  right: (played, names) => [`Right: ${played}.`, "right"],
  transposes: (played, names) => [`${played} leads back to your repertoire, which has ${names} here.`, "right"],
  wrong: (played, names) => [`Wrong: your repertoire has ${names}, not ${played}.`, "wrong"],
  good: (played, names) => [`${played} is a good move. You can add it to your repertoire.`, "right"],
  weak: (played, names) => [names ? `${played} is not good. Better: ${names}.` : `${played} is not good.`, "wrong"],
  unknown: (played, names) => [`${played} is not in enough games to judge it.`, ""],
};

function answer(uci) {
  if (!question) return;
  const { number, fen } = question;
  request(`training/answer?question=${number}&move=${uci}`, judged => {
    show(judged.training);
    const names = judged.expected.map(move => move.san).join(" or ");
    const [text, kind] = VERDICTS[judged.verdict](judged.played.san, names);
    say(judged.loss > 0 ? `${text} It loses ${judged.loss} centipawns against the best move.` : text, kind);
    board.show({ fen: judged.fen, legal: [], last: judged.played.uci });
    if (kind === "wrong" && judged.expected.length > 0) {
      board.show({ fen, legal: [], last: null });
      board.hint(judged.expected[0].uci);
    }
    const others = judged.verdict === "right" ? [] : judged.expected.filter(move => move.uci !== judged.played.uci);
    showFacts([judged.played, ...others]);
    byId("reply").textContent = judged.reply ? `Your opponent replies ${judged.reply.san}.` : "";
    if (kind !== "right") refute(judged.fen);
    byId("task").textContent = kind === "wrong" ? "Not the move" : "Next question";
    byId("next").focus();
  });
}

/** Shows the best line after a wrong move, which the server searches for. */
function refute(fen) {
  stopSearch();
  const source = search = new EventSource(`analysis?${new URLSearchParams({ fen, seconds: SEARCH_SECONDS, client: CLIENT })}`);
  source.addEventListener("line", ({ data }) => {
    const line = JSON.parse(data);
    if (source !== search || line.bound !== "exact") return;
    const value = score(line.score), moves = numbered(line.moves.slice(0, LINE_PLIES), fen);
    byId("refutation").textContent = `Best reply: ${moves} (${value} for your opponent, depth ${line.depth}).`;
  });
  for (const name of ["end", "error"]) source.addEventListener(name, () => source.close());
}

function stopSearch() {
  search?.close();
  search = null;
}

/** Shows the results, values and replies of moves. */
function showFacts(moves) {
  const hasValues = moves.some(move => move.value !== null);
  const head = ["Move", "Score", "Games", hasValues && "Value", "Reply"].filter(Boolean);
  const rows = moves.map(move => make("tr", {},
    make("td", {}, move.san),
    make("td", {}, move.games > 0 ? percent(move.score) : "–"),
    make("td", {}, grouped(move.games)),
    hasValues ? make("td", {}, move.value ? score(move.value) : "") : null,
    make("td", {}, move.reply ? `${move.reply.san} (${move.reply.best ? "best, " : ""}${percent(move.reply.share)})` : "")));
  byId("facts").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...head.map(text => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows)));
}

/** Loads the state; waits while books are being opened. */
async function load() {
  for (;;) {
    try {
      return show(await ask("training"));
    } catch (error) {
      if (error.status !== 503) throw error;
      say(error.message);
      await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL));
    }
  }
}

function listenToKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { h: hint, s: () => question && next(true), n: () => !question && next(), f: () => board.flip() }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

async function begin() {
  wireTheme(byId("theme"));
  byId("hint").addEventListener("click", hint);
  byId("skip").addEventListener("click", () => next(true));
  byId("next").addEventListener("click", () => next());
  addEventListener("keydown", listenToKeys);
  board.show({ fen: START, legal: [] });
  try {
    const training = await load();
    board.flip(training.side === "black");
    if (!training.question) await next();
  } catch (error) {
    byId("task").textContent = "No training";
    say(error.message, "wrong");
    byId("next").disabled = true;
  }
}

begin();
