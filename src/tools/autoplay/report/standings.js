// Standings, results of two engines, and a sequential test, on match reports and on the live page.

import { Curve } from "./chart.js";
import { make } from "./dom.js";

const share = (part, whole) => whole ? (100 * part / whole).toFixed(1) + "%" : "–";
const signed = (number, digits) => (number >= 0 ? "+" : "−") + Math.abs(number).toFixed(digits);

/** Shows a crosstable in a `table` element. */
export function fillTable(table, data) {
  const hasPlacings = data.some(row => row.score !== null);
  const heads = ["#", "Engine", "Points", "Games", "Share", ...hasPlacings ? ["Score", "Buchholz"] : [], ...(data[0]?.cells ?? []).map((_, i) => i + 1)];
  const head = make("tr", {}, ...heads.map(text => make("th", { scope: "col", class: text === "Engine" ? "name" : null }, text)));
  const rows = data.map((row, i) => {
    const cells = row.cells.map((cell, j) => make("td", {}, i === j ? "·" : cell ?? "–"));
    return make("tr", {}, make("td", {}, i + 1), make("th", { scope: "row", class: "name" }, row.name), make("td", {}, row.points), make("td", {}, row.games), make("td", {}, share(row.points, row.games)),
      ...hasPlacings ? [make("td", {}, row.score), make("td", {}, row.buchholz)] : [], ...cells);
  });
  table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

/** The minimum share of a bar at which a part shows its count, and at which it shows its count with a word. */
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

/** Returns a panel with the results of two engines. */
export function pairingPanel(pairing) {
  const [wins, draws, losses] = pairing.total;
  const elo = pairing.elo === null ? "no finite Elo estimate" : `Elo ${signed(pairing.elo, 1)} ± ${pairing.error === null ? "∞" : pairing.error.toFixed(1)}`;
  const superiority = pairing.los === null ? "" : `, likelihood of superiority ${(100 * pairing.los).toFixed(1)}%`;
  const side = counts => `+${counts[0]} =${counts[1]} −${counts[2]}`;
  return make("section", { class: "panel" }, make("h2", {}, pairing.names.join(" – ")),
    make("p", {}, `${wins} won, ${draws} drawn, ${losses} lost: ${share(wins + draws / 2, wins + draws + losses)}`),
    resultBar(wins, draws, losses),
    make("p", {}, elo + superiority),
    make("p", { class: "note" }, `as White ${side(pairing.white)}, as Black ${side(pairing.black)}`),
    make("p", { class: "note" }, `pairs by points 0, ½, 1, 1½, 2: ${pairing.pairs.join(", ")}`));
}

/** Shows a sequential test in the first `div` of a section. */
export function showTest(section, { lower, upper, curve, elo0, elo1, pairs = curve.length - 1 }) {
  section.hidden = false;
  const room = 0.3;
  const last = curve.at(-1);
  const verdict = last >= upper ? `${elo1} accepted` : last <= lower ? `${elo0} accepted` : "undecided";
  const words = `log-likelihood ratio ${last.toFixed(2)} after ${pairs} ${pairs === 1 ? "pair" : "pairs"}, Elo ${elo0} against ${elo1}: ${verdict}`;
  const chart = new Curve(curve, { low: Math.min(lower, ...curve) - room, high: Math.max(upper, ...curve) + room, marks: [[upper, upper.toFixed(2)], [0, "0"], [lower, lower.toFixed(2)]], label: words });
  section.querySelector("div").replaceChildren(chart.svg, make("p", { class: "note" }, words));
}

/** Scores above `MATES` are mates; mate in n plies is `MATE - n`. */
const [MATES, MATE] = [31000, 32000];

/** Formats a score in centipawns, or as mate in moves. */
export function scoreText(score) {
  if (score === null || score === undefined) return "";
  if (Math.abs(score) <= MATES) return signed(score / 100, 2);
  return (score > 0 ? "+M" : "−M") + Math.ceil((MATE - Math.abs(score)) / 2);
}

/**
 * Returns a chart of both engines' scores. Each engine has a list of scores in centipawns from its own point of
 * view, with `null` for the opponent's moves.
 */
export function scoreCurve(scores, label, onPick = null) {
  const [values, other] = scores.map((row, side) => [null, ...row.map(score => score === null ? null : (side === 0 ? score : -score) / 100)]);
  return new Curve(values, { low: -10, high: 10, marks: [[5, "+5"], [0, "0"], [-5, "−5"]], label, onPick, other });
}
