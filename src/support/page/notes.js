// The notes on the moves of an annotated game: glyphs, comments, the curve of expectation, and key moments.

import { Curve } from "./chart.js";
import { make } from "./dom.js";

/** Signs for numeric annotation glyphs, and CSS classes for glyphs that evaluate a move. */
const GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□" };
const CLASSES = { 2: "error", 4: "ruin", 6: "slip", 7: "sole" };
const FAULTS = ["slip", "error", "ruin"];

/** Returns the signs after a ply. */
export const glyph = (game, at) => game.notes[at].nags.map(nag => GLYPHS[nag] ?? "").join("");

/** Returns the CSS class of a ply that a glyph evaluates, or `null`. */
export function kindOf(game, at) {
  const nag = game.notes[at].nags.find(nag => nag in CLASSES);
  return nag === undefined ? null : CLASSES[nag];
}

/** Formats a ply with its move number and signs. */
function named(game, at) {
  const [, turn, , , , first] = game.fen.split(" ");
  const half = at + (turn === "b" ? 1 : 0);
  return `${Number(first) + (half >> 1)}${half % 2 ? "…" : "."} ${game.san[at]}${glyph(game, at)}`;
}

/** Returns the note on the move that led to a position, as texts and elements. */
export function saidOf(game, ply) {
  if (ply === 0) return [];
  const note = game.notes[ply - 1];
  const kind = kindOf(game, ply - 1);
  const lines = note.variations.map(line => make("span", { class: "better" }, `(${line})`));
  return [make("b", { class: kind }, named(game, ply - 1)), note.eval ? ` ${note.eval} ` : " ", note.comment, ...lines];
}

/** Draws White's expected score after each ply; `go` receives the ply that was clicked. */
export function curveOf(game, go) {
  const values = [null, ...game.notes.map(note => note.expected)];
  const dots = game.moves.map((_, at) => [at + 1, kindOf(game, at)]).filter(([, kind]) => FAULTS.includes(kind));
  return new Curve(values, { low: 0, high: 1, marks: [[1, "100%"], [.5, "50%"], [0, "0%"]], label: "What White could expect, move by move", dots, fill: .5, onPick: go });
}

/** Returns the items of the list of key moments; `go` receives the ply of the selected item. */
export function momentsOf(game, go) {
  const isMoment = at => FAULTS.includes(kindOf(game, at)) || game.notes[at].moment;
  const items = game.moves.map((_, at) => at).filter(isMoment).map(at => make("li", {},
    make("button", { type: "button", onclick: () => go(at + 1) }, make("b", { class: kindOf(game, at) }, named(game, at)), make("span", {}, game.notes[at].comment))));
  return items.length > 0 ? items : [make("li", { class: "note" }, "No move gave anything away.")];
}
