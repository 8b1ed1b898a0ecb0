// The page that shows the engine's search as a tree of visits, whose branches can be expanded.

import { Board } from "./board.js";
import { byId, make } from "./dom.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);
/** Maximum number of visits that one click expands. */
const MAX_UNFOLDED = 3000;

const below = data.visits.map(() => []);
data.visits.forEach(({ parent }, at) => { if (parent !== null) below[parent].push(at); });

let board;

function labelOf(at) {
  const { name, text, type } = data.visits[at];
  return [make("b", { class: type ?? "open" }, name), ` ${text}`];
}

/** Returns the list items of visits. The items below a visit are created when it is expanded. */
function items(places) {
  return places.map(at => {
    if (below[at].length === 0) return make("li", {}, make("button", { type: "button", class: "visit", "data-at": at }, ...labelOf(at)));
    const list = make("ul", { class: "branch" });
    const fold = make("details", {}, make("summary", { class: "visit", "data-at": at }, ...labelOf(at)), list);
    fold.addEventListener("toggle", () => unfold(fold));
    return make("li", {}, fold);
  });
}

function unfold(fold) {
  const list = fold.querySelector("ul");
  if (fold.open && list.children.length === 0) list.append(...items(below[fold.querySelector("summary").dataset.at]));
}

function choose(label) {
  const visit = data.visits[label.dataset.at];
  document.querySelector(".visit.now")?.classList.remove("now");
  label.classList.add("now");
  byId("chosen").textContent = visit.name;
  byId("details").textContent = visit.text + (visit.hidden ? ` (${visit.hidden} visits below are not recorded)` : "");
  board.show({ fen: visit.fen, legal: [] });
}

function showIteration(at) {
  byId("tree").replaceChildren(...items(data.iterations[at].roots));
  for (const fold of byId("tree").querySelectorAll("details")) {
    fold.open = true;
    unfold(fold);
  }
  const first = byId("tree").querySelector(".visit");
  if (first) choose(first);
}

function unfoldAll() {
  const folds = [...byId("tree").querySelectorAll("details")];
  let left = MAX_UNFOLDED;
  while (folds.length > 0 && left-- > 0) {
    const fold = folds.shift();
    fold.open = true;
    unfold(fold);
    folds.push(...fold.querySelectorAll(":scope > ul > li > details"));
  }
}

function begin() {
  document.title = byId("title").textContent = data.title;
  byId("sums").textContent = data.sums;
  wireTheme(byId("theme"));
  board = new Board(byId("place"), () => {});
  const choice = byId("iteration");
  data.iterations.forEach(({ title }, at) => choice.append(make("option", { value: at }, title)));
  choice.addEventListener("change", () => showIteration(Number(choice.value)));
  byId("fold").addEventListener("click", () => byId("tree").querySelectorAll("li li details").forEach(fold => { fold.open = false; }));
  byId("unfold").addEventListener("click", unfoldAll);
  for (const kind of ["focusin", "click"]) byId("tree").addEventListener(kind, event => {
    const label = event.target.closest(".visit");
    if (label) choose(label);
  });
  choice.value = data.iterations.length - 1;
  if (data.iterations.length > 0) showIteration(data.iterations.length - 1);
}

begin();
