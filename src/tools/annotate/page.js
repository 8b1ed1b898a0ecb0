// The page of annotated games, with a board, a chart of expected points, and the important moments.

import { byId, make } from "./dom.js";
import { curveOf, glyph, kindOf, momentsOf, saidOf } from "./notes.js";
import { Replay } from "./replay.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);

function headOf(game) {
  const players = game.players.map(words => make("p", { class: "note" }, words));
  return [make("p", {}, game.about), make("div", { class: "players" }, ...players)];
}

function begin() {
  const [choice, replay] = [byId("game"), new Replay(byId("replay"))];
  data.games.forEach((game, i) => choice.append(make("option", { value: i }, `${i + 1}. ${game.title}`)));
  byId("choice").hidden = data.games.length < 2;
  const visit = ply => {
    replay.go(ply);
    byId("replay").scrollIntoView({ block: "nearest" });
  };
  const pick = index => {
    const game = data.games[index];
    byId("who").textContent = document.title = game.title;
    const more = at => glyph(game, at) ? [make("span", { class: kindOf(game, at) }, glyph(game, at))] : [];
    replay.show({ ...game, kind: at => kindOf(game, at), more, said: ply => saidOf(game, ply), curve: go => curveOf(game, go) }, headOf(game));
    replay.go(0);
    byId("moments").replaceChildren(...momentsOf(game, visit));
    history.replaceState(null, "", `#${index + 1}`);
  };
  choice.addEventListener("change", () => pick(Number(choice.value)));
  const wanted = Math.min(data.games.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  choice.value = wanted;
  if (data.games.length > 0) pick(wanted);
}

wireTheme(byId("theme"));
begin();
