// The match report: tables, charts and a game viewer.

import { byId, draw, make } from "./dom.js";
import { Curve } from "./chart.js";
import { Replay } from "./replay.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);

const share = (part, whole) => whole ? (100 * part / whole).toFixed(1) + "%" : "–";
const signed = (number, digits) => (number >= 0 ? "+" : "−") + Math.abs(number).toFixed(digits);

function showMatch() {
  const heads = ["Engine", "Command", "Protocol", "Time control", "Time margin", "Options"];
  const rows = data.engines.map(engine => make("tr", {}, make("th", { scope: "row" }, engine.name), make("td", { class: "long" }, make("code", {}, engine.command)),
    make("td", {}, engine.protocol), make("td", {}, engine.limits), make("td", {}, `${engine.margin} ms`), make("td", { class: engine.options ? "long" : null }, engine.options || "–")));
  byId("engines").append(make("thead", {}, make("tr", {}, ...heads.map(text => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows));
  const facts = data.facts.map(([label, text]) => [label, label === "Command" ? make("code", {}, text) : text]);
  if (data.pgn) facts.push(["PGN", make("a", { href: data.pgn.split("/").map(encodeURIComponent).join("/") }, data.pgn)]);
  byId("facts").append(...facts.flatMap(([label, text]) => [make("dt", {}, label), make("dd", {}, text)]));
}

function showTable() {
  const hasPlacings = data.table.some(row => row.score !== null);
  const heads = ["#", "Engine", "Points", "Games", "Share", ...hasPlacings ? ["Score", "Buchholz"] : [], ...data.table.map((_, i) => i + 1)];
  const head = make("tr", {}, ...heads.map(text => make("th", { scope: "col", class: text === "Engine" ? "name" : null }, text)));
  const rows = data.table.map((row, i) => {
    const cells = row.cells.map((cell, j) => make("td", {}, i === j ? "·" : cell ?? "–"));
    return make("tr", {}, make("td", {}, i + 1), make("th", { scope: "row", class: "name" }, row.name), make("td", {}, row.points), make("td", {}, row.games), make("td", {}, share(row.points, row.games)),
      ...hasPlacings ? [make("td", {}, row.score), make("td", {}, row.buchholz)] : [], ...cells);
  });
  byId("table").append(make("thead", {}, head), make("tbody", {}, ...rows));
}

/** Minimum shares at which part of a bar shows its count, and its count with a word. */
const [COUNT_FITS, WORDS_FIT] = [.07, .22];

function resultBar(wins, draws, losses) {
  const parts = [[wins, "won"], [draws, "drawn"], [losses, "lost"]].filter(([count]) => count > 0).map(([count, kind]) => {
    const size = count / (wins + draws + losses);
    const part = make("i", { class: kind, title: `${count} ${kind}` }, size >= WORDS_FIT ? `${count} ${kind}` : size >= COUNT_FITS ? count : "");
    part.style.flexGrow = count;
    return part;
  });
  return make("div", { class: "bar", role: "img", "aria-label": `${wins} won, ${draws} drawn, ${losses} lost` }, ...parts);
}

function showPairings() {
  for (const pairing of data.pairings) {
    const [wins, draws, losses] = pairing.total;
    const elo = pairing.elo === null ? "no finite Elo estimate" : `Elo ${signed(pairing.elo, 1)} ± ${pairing.error === null ? "∞" : pairing.error.toFixed(1)}`;
    const superiority = pairing.los === null ? "" : `, likelihood of superiority ${(100 * pairing.los).toFixed(1)}%`;
    const side = counts => `+${counts[0]} =${counts[1]} −${counts[2]}`;
    byId("pairings").append(make("section", { class: "panel" }, make("h2", {}, pairing.names.join(" – ")),
      make("p", {}, `${wins} won, ${draws} drawn, ${losses} lost: ${share(wins + draws / 2, wins + draws + losses)}`),
      resultBar(wins, draws, losses),
      make("p", {}, elo + superiority),
      make("p", { class: "note" }, `as White ${side(pairing.white)}, as Black ${side(pairing.black)}`),
      make("p", { class: "note" }, `pairs by points 0, ½, 1, 1½, 2: ${pairing.pairs.join(", ")}`)));
  }
}

function showSprt() {
  if (!data.sprt) return;
  const { lower, upper, curve, elo0, elo1 } = data.sprt;
  const section = byId("sprt");
  section.hidden = false;
  const room = 0.3;
  const last = curve.at(-1);
  const verdict = last >= upper ? `${elo1} accepted` : last <= lower ? `${elo0} accepted` : "undecided";
  const words = `log-likelihood ratio ${last.toFixed(2)} after ${curve.length - 1} pairs, Elo ${elo0} against ${elo1}: ${verdict}`;
  const chart = new Curve(curve, { low: Math.min(lower, ...curve) - room, high: Math.max(upper, ...curve) + room, marks: [[upper, upper.toFixed(2)], [0, "0"], [lower, lower.toFixed(2)]], label: words });
  section.querySelector("div").append(chart.svg, make("p", { class: "note" }, words));
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

/** Scores above `MATES` are mates; mate in n plies is `MATE - n`. */
const [MATES, MATE] = [31000, 32000];

function scoreText(score) {
  if (score === null || score === undefined) return "";
  if (Math.abs(score) <= MATES) return signed(score / 100, 2);
  return (score > 0 ? "+M" : "−M") + Math.ceil((MATE - Math.abs(score)) / 2);
}

/** The class of a move: `book` from the opening or a book, `met` if its search ended in the book, or `null`. */
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

/** The scores that one side's engine reported, in pawns for White; `null` for other moves. */
function scoresOf(game, side) {
  const first = game.fen.split(" ")[1] === "b" ? 1 : 0;
  return [null, ...game.moves.map((_, at) => {
    const score = at < game.opening || (at + first) % 2 !== side ? null : game.scores[at - game.opening] ?? null;
    return score === null ? null : (side === 0 ? 1 : -1) * Math.max(-1000, Math.min(1000, score)) / 100;
  })];
}

/** A chart with a line for each engine. */
function curveOf(game, go) {
  return new Curve(scoresOf(game, 0), { low: -10, high: 10, marks: [[5, "+5"], [0, "0"], [-5, "−5"]], label: "Evaluations of both engines by move, in pawns for White", onPick: go, other: scoresOf(game, 1) });
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
showTable();
showPairings();
showSprt();
showEnds();
showLengths();
showGames();
