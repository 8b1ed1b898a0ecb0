// The match report: tables, charts and a game viewer.

import { byId, draw, make } from "./dom.js";
import { Replay } from "./replay.js";
import { fillTable, pairingPanel, scoreCurve, scoreText, showTest } from "./standings.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);

function showMatch() {
  const heads = ["Engine", "Command", "Protocol", "Time control", "Time margin", "Options"];
  const rows = data.engines.map(engine => make("tr", {}, make("th", { scope: "row" }, engine.name), make("td", { class: "long" }, make("code", {}, engine.command)),
    make("td", {}, engine.protocol), make("td", {}, engine.limits), make("td", {}, `${engine.margin} ms`), make("td", { class: engine.options ? "long" : null }, engine.options || "–")));
  byId("engines").append(make("thead", {}, make("tr", {}, ...heads.map(text => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows));
  const facts = data.facts.map(([label, text]) => [label, label === "Command" ? make("code", {}, text) : text]);
  if (data.pgn) facts.push(["PGN", make("a", { href: data.pgn.split("/").map(encodeURIComponent).join("/") }, data.pgn)]);
  byId("facts").append(...facts.flatMap(([label, text]) => [make("dt", {}, label), make("dd", {}, text)]));
}

function showEnds() {
  const counts = new Map();
  for (const game of data.games) counts.set(game.end, (counts.get(game.end) ?? 0) + 1);
  const rows = [...counts].sort((a, b) => b[1] - a[1]);
  for (const [end, count] of rows) {
    const bar = make("i");
    bar.style.width = `${100 * count / rows[0][1]}%`;
    byId("ends").append(make("div", {}, make("dt", {}, end), make("dd", {}, bar, make("b", {}, count))));
  }
}

function showLengths() {
  const lengths = data.games.map(game => Math.ceil(game.moves.length / 2));
  if (lengths.length === 0) return;
  const step = Math.max(5, Math.ceil(Math.max(...lengths) / 16 / 5) * 5);
  const bins = Array(Math.floor(Math.max(...lengths) / step) + 1).fill(0);
  for (const length of lengths) bins[Math.floor(length / step)]++;
  const [width, height] = [480, 160];
  const [most, wide] = [Math.max(...bins), width / bins.length];
  const words = bins.map((count, i) => `${count} from ${i * step}`).join(", ");
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "columns", role: "img", "aria-label": `Games by length in moves: ${words}` });
  bins.forEach((count, i) => {
    const tall = (height - 34) * count / most;
    svg.append(draw("rect", { x: i * wide + 2, y: height - 18 - tall, width: Math.max(1, wide - 4), height: tall, rx: 2 }));
    if (count > 0) svg.append(draw("text", { x: (i + .5) * wide, y: height - 22 - tall, "text-anchor": "middle" }, count));
    svg.append(draw("text", { x: i * wide + 2, y: height - 4 }, i * step));
  });
  byId("lengths").append(svg);
}

/** The class of a move: `book` for opening and book moves, `met` if the search ended in the book, or `null`. */
function kindOf(game, at) {
  if (at < game.opening) return "book";
  const remark = game.remarks[at - game.opening] ?? "";
  return remark === "book" ? "book" : remark ? "met" : null;
}

/** The comment on the move that led to a position. */
function saidOf(game, ply) {
  if (ply === 0) return ["start"];
  const [san, index] = [game.san[ply - 1], ply - 1 - game.opening];
  if (index < 0) return [`${san}: opening`];
  const remark = game.remarks[index] ?? "";
  const found = remark === "book" ? "book" : scoreText(game.scores[index]);
  const met = remark && remark !== "book" ? `, ${remark}` : "";
  return [`${san}: ${found} ${(game.seconds[index] ?? 0).toFixed(2)} s${met}`];
}

/** The scores that one side's engine reported, with `null` for all moves without such a score. */
function scoresOf(game, side) {
  const first = game.fen.split(" ")[1] === "b" ? 1 : 0;
  return game.moves.map((_, at) => at < game.opening || (at + first) % 2 !== side ? null : game.scores[at - game.opening] ?? null);
}

/** A chart with a line for each engine. */
function curveOf(game, go) {
  return scoreCurve([scoresOf(game, 0), scoresOf(game, 1)], "Evaluations of both engines by move, in pawns for White", go);
}

function showGames() {
  const [choice, replay] = [byId("game"), new Replay(byId("replay"))];
  data.games.forEach((game, i) => choice.append(make("option", { value: i }, `${game.number}. ${game.names[0]} – ${game.names[1]} ${game.result} (${game.end})`)));
  if (data.games.length === 0) return;
  const pick = index => {
    const game = data.games[index];
    const head = [
      make("p", {}, make("b", {}, `${game.names[0]} – ${game.names[1]}  ${game.result}`)),
      make("p", { class: "note" }, `${game.end}: ${game.detail}`),
      make("p", { class: "note" }, "Evaluations are in pawns for White. Grey moves come from the opening or a book. For moves with a dotted underline, the search ended in the book."),
      make("p", { class: "note keys" }, make("span", { class: "key" }, `${game.names[0]} (White)`), make("span", { class: "key other" }, `${game.names[1]} (Black)`)),
    ];
    replay.show({ ...game, kind: at => kindOf(game, at), said: ply => saidOf(game, ply), curve: go => curveOf(game, go) }, head);
    replay.go(game.moves.length);
  };
  choice.addEventListener("change", () => pick(Number(choice.value)));
  const wanted = data.games.findIndex(game => "#" + game.number === location.hash);
  choice.value = Math.max(0, wanted);
  pick(Math.max(0, wanted));
}

byId("title").textContent = document.title = data.event;
wireTheme(byId("theme"));
showMatch();
fillTable(byId("table"), data.table);
byId("pairings").append(...data.pairings.map(pairingPanel));
if (data.sprt) showTest(byId("sprt"), data.sprt);
showEnds();
showLengths();
showGames();
