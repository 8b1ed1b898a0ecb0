// Annotations of a game: glyphs, comments, the chart of expected points, and the list of key moments.

import { Curve } from "./chart.js";
import { make } from "./dom.js";

/** The text of the numeric annotation glyphs for moves. */
export const MOVE_GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□" };
/** The text of the numeric annotation glyphs for positions. */
export const POSITION_GLYPHS = { 10: "=", 13: "∞", 14: "⩲", 15: "⩱", 16: "±", 17: "∓", 18: "+−", 19: "−+" };
/** The CSS classes of the glyphs for mistakes and for only moves. */
const CLASSES = { 2: "error", 4: "ruin", 6: "slip", 7: "sole" };
const FAULTS = ["slip", "error", "ruin"];

/** Formats numeric annotation glyphs; omits unknown ones. */
export const glyphs = nags => nags.map(nag => MOVE_GLYPHS[nag] ?? POSITION_GLYPHS[nag] ?? "").join("");

/** Explains the glyph in a text that few readers know; `null` if the text does not contain it. */
export const hintFor = text => text.includes(MOVE_GLYPHS[7]) ? `${MOVE_GLYPHS[7]}: the only good move` : null;

/** Returns the glyphs of a ply. */
export const glyph = (game, at) => glyphs(game.notes[at].nags);

/** Returns the CSS class for the first glyph of a ply that has one, or `null`. */
export function kindOf(game, at) {
  const nag = game.notes[at].nags.find(nag => nag in CLASSES);
  return nag === undefined ? null : CLASSES[nag];
}

/** Formats a ply with its move number and glyphs. */
function named(game, at) {
  const [, turn, , , , first] = game.fen.split(" ");
  const half = at + (turn === "b" ? 1 : 0);
  return `${Number(first) + (half >> 1)}${half % 2 ? "…" : "."} ${game.san[at]}${glyph(game, at)}`;
}

/**
 * Returns the comment on the move that led to a position, as strings and elements. If `better` is set, it is
 * shown instead of the variations.
 */
export function saidOf(game, ply, better = null) {
  if (ply === 0) return [];
  const note = game.notes[ply - 1];
  const kind = kindOf(game, ply - 1);
  const lines = better ?? note.variations.map(line => make("span", { class: "better" }, `(${line})`));
  return [make("b", { class: kind, title: hintFor(glyph(game, ply - 1)) }, named(game, ply - 1)), note.eval ? ` ${note.eval} ` : " ", note.comment, ...lines];
}

/** Returns the chart of White's expected points. Calls `go` with the ply that the user clicks. */
export function curveOf(game, go) {
  const values = [null, ...game.notes.map(note => note.expected)];
  const dots = game.moves.map((_, at) => [at + 1, kindOf(game, at)]).filter(([, kind]) => FAULTS.includes(kind));
  return new Curve(values, { low: 0, high: 1, marks: [[1, "100%"], [.5, "50%"], [0, "0%"]], label: "White's expected points by move", dots, fill: .5, onPick: go });
}

/** Returns the items of the list of key moments. Calls `go` with the ply that the user selects. */
export function momentsOf(game, go) {
  const isMoment = at => FAULTS.includes(kindOf(game, at)) || game.notes[at].moment;
  const items = game.moves.map((_, at) => at).filter(isMoment).map(at => make("li", {},
    make("button", { type: "button", title: hintFor(glyph(game, at)), onclick: () => go(at + 1) }, make("b", { class: kindOf(game, at) }, named(game, at)), make("span", {}, game.notes[at].comment))));
  return items.length > 0 ? items : [make("li", { class: "note" }, "No mistakes found.")];
}
