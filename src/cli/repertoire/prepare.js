// The page about an opponent: lines on a board, and openings by colour and year.

import { byId, grouped, make, percent } from "./dom.js";
import { Replay } from "./replay.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);

/** The number of years that have a column, beginning with the latest one. */
const YEAR_COLUMNS = 4;

function beginLines() {
  byId("lines-panel").hidden = data.lines.length === 0;
  if (data.lines.length === 0) return;
  const [choice, replay] = [byId("line"), new Replay(byId("replay"))];
  data.lines.forEach((line, i) => choice.append(make("option", { value: i }, line.title)));
  const pick = index => {
    const line = data.lines[index];
    byId("line-title").textContent = line.title;
    replay.show({ ...line, said: ply => [line.comments[ply]] }, [make("p", { class: "note" }, line.opening ?? "")]);
    replay.go(line.moves.length);
  };
  choice.addEventListener("change", () => pick(Number(choice.value)));
  pick(0);
}

const yearName = year => year === null ? "no date" : String(year);

const right = (...children) => make("td", { class: "right" }, ...children);

function openingRow(row, years) {
  const ofYear = year => row.years.find(one => one.year === year);
  const cell = year => right(ofYear(year) ? percent(ofYear(year).share) : "–");
  return make("tr", {}, make("th", { scope: "row" }, row.opening ?? "without a name"),
    right(grouped(row.games)), right(percent(row.share)), right(percent(row.score)), ...years.map(cell));
}

function colourPanel(colour) {
  const years = colour.years.map(row => row.year).slice(-YEAR_COLUMNS);
  const heads = ["Opening", "Games", "Share", "Score", ...years.map(yearName)];
  const head = make("tr", {}, ...heads.map((text, at) => make("th", { scope: "col", class: at > 0 ? "right" : null }, text)));
  const title = `As ${colour.side}: ${grouped(colour.games)} games, ${percent(colour.score)}`;
  return make("section", { class: "panel", "aria-label": title }, make("h2", {}, title),
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title },
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...colour.openings.map(row => openingRow(row, years))))));
}

byId("title").textContent = document.title = data.player;
byId("colours").append(...data.colours.map(colourPanel));
wireTheme(byId("theme"));
beginLines();
