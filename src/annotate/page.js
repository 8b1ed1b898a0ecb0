// Games, explained: what their moves gave away, as a curve, as a list, and on the board.

import { Curve } from "./chart.js";
import { byId, make } from "./dom.js";
import { Replay } from "./replay.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);

/** What numeric annotation glyphs look like, and the classes of those that judge. */
const GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□" };
const CLASSES = { 2: "error", 4: "ruin", 6: "slip", 7: "sole" };
const FAULTS = ["slip", "error", "ruin"];

const glyph = (game, at) => game.notes[at].nags.map(nag => GLYPHS[nag] ?? "").join("");

function kindOf(game, at) {
  const nag = game.notes[at].nags.find(nag => nag in CLASSES);
  return nag === undefined ? null : CLASSES[nag];
}

function numbered(game, at) {
  const [, turn, , , , first] = game.fen.split(" ");
  const half = at + (turn === "b" ? 1 : 0);
  return `${Number(first) + (half >> 1)}${half % 2 ? "…" : "."} ${game.san[at]}${glyph(game, at)}`;
}

/** What is told of the move that led to a position. */
function saidOf(game, ply) {
  if (ply === 0) return [];
  const note = game.notes[ply - 1];
  const kind = kindOf(game, ply - 1);
  const lines = note.variations.map(line => make("span", { class: "better" }, `(${line})`));
  return [make("b", { class: kind }, numbered(game, ply - 1)), note.eval ? ` ${note.eval} ` : " ", note.comment, ...lines];
}

function curveOf(game, go) {
  const values = [null, ...game.notes.map(note => note.expected)];
  const dots = game.moves.map((_, at) => [at + 1, kindOf(game, at)]).filter(([, kind]) => FAULTS.includes(kind));
  return new Curve(values, { low: 0, high: 1, marks: [[1, "100%"], [.5, "50%"], [0, "0%"]], label: "What White could expect, move by move", dots, fill: .5, onPick: go });
}

function showMoments(game, replay) {
  const isMoment = at => FAULTS.includes(kindOf(game, at)) || game.notes[at].moment;
  const items = game.moves.map((_, at) => at).filter(isMoment).map(at => make("li", {}, make("button", { type: "button", onclick: () => {
    replay.go(at + 1);
    byId("replay").scrollIntoView({ block: "nearest" });
  } }, make("b", { class: kindOf(game, at) }, numbered(game, at)), make("span", {}, game.notes[at].comment))));
  byId("moments").replaceChildren(...items.length > 0 ? items : [make("li", { class: "note" }, "No move gave anything away.")]);
}

function headOf(game) {
  const players = game.players.map(words => make("p", { class: "note" }, words));
  return [make("p", {}, game.about), make("div", { class: "players" }, ...players)];
}

function begin() {
  const [choice, replay] = [byId("game"), new Replay(byId("replay"))];
  data.games.forEach((game, i) => choice.append(make("option", { value: i }, `${i + 1}. ${game.title}`)));
  byId("choice").hidden = data.games.length < 2;
  const pick = index => {
    const game = data.games[index];
    byId("who").textContent = document.title = game.title;
    const more = at => glyph(game, at) ? [make("span", { class: kindOf(game, at) }, glyph(game, at))] : [];
    replay.show({ ...game, kind: at => kindOf(game, at), more, said: ply => saidOf(game, ply), curve: go => curveOf(game, go) }, headOf(game));
    replay.go(0);
    showMoments(game, replay);
    history.replaceState(null, "", `#${index + 1}`);
  };
  choice.addEventListener("change", () => pick(Number(choice.value)));
  const wanted = Math.min(data.games.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  choice.value = wanted;
  if (data.games.length > 0) pick(wanted);
}

wireTheme(byId("theme"));
begin();
