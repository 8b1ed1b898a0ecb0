// Filters by rating, speed and date, if the book supports them.

import { byId, disclose, make } from "./dom.js";

const RATINGS = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/** Filters by a list of values, each with the text of its box. */
const LISTS = [
  { name: "ratings", legend: "Ratings", choices: RATINGS.map(group => [String(group), ratingText(group)]), described: "ratings " },
  { name: "speeds", legend: "Speeds", choices: [["ultraBullet", "UltraBullet"], ["bullet", "Bullet"], ["blitz", "Blitz"], ["rapid", "Rapid"], ["classical", "Classical"], ["correspondence", "Correspondence"]], described: "" },
];
const DATES = ["since", "until"];
export const NAMES = [...LISTS.map(list => list.name), ...DATES];

/** Returns the range of ratings of a group, which ends where the next one begins. */
function ratingText(group) {
  const next = RATINGS[RATINGS.indexOf(group) + 1];
  return next === undefined ? `${group}+` : `${group}–${next - 1}`;
}

function boxes({ name, legend, choices }) {
  return make("fieldset", {}, make("legend", {}, legend), ...choices.map(([value, text]) =>
    make("label", {}, make("input", { type: "checkbox", name, value, checked: true }), text)));
}

/** Creates the form. Calls `changed` after a change. */
export function makeFilters(changed) {
  const form = byId("filters");
  form.append(
    ...LISTS.map(boxes),
    make("fieldset", {}, make("legend", {}, "Dates"), ...DATES.map(name => make("label", {}, `${name} `, make("input", { type: "month", name })))),
    make("div", {}, make("button", { type: "button", id: "filters-clear", onclick: () => { set(new URLSearchParams()); changed(); } }, "Clear filters")));
  form.addEventListener("change", () => { showState(); changed(); });
  form.addEventListener("submit", event => event.preventDefault());
  disclose(byId("filters-open"), form);
  byId("filters-open").hidden = false;
}

/** Shows how many filters are set, which is visible even while the form is closed. */
function showState() {
  const count = [...chosen()].length;
  byId("filters-open").textContent = count > 0 ? `Filters: ${count}` : "Filters";
  byId("filters-clear").disabled = count === 0;
}

/** Returns the filters as query parameters. Omits filters that accept all games. */
export function chosen() {
  const form = byId("filters");
  const parameters = new URLSearchParams();
  for (const { name } of LISTS) {
    const all = [...form.querySelectorAll(`[name=${name}]`)];
    const on = all.filter(box => box.checked);
    if (on.length > 0 && on.length < all.length) parameters.set(name, on.map(box => box.value).join(","));
  }
  for (const name of DATES) {
    const value = form.querySelector(`[name=${name}]`)?.value;
    if (value) parameters.set(name, value);
  }
  return parameters;
}

/** Describes the filters for messages; empty if they accept all games. */
export function describe() {
  return [...chosen()].map(([name, value]) => {
    const list = LISTS.find(list => list.name === name);
    if (!list) return `${name} ${value}`;
    const texts = new Map(list.choices);
    return list.described + value.split(",").map(choice => texts.get(choice)).join(", ");
  }).join("; ");
}

export function set(parameters) {
  const form = byId("filters");
  if (form.children.length === 0) return;
  for (const { name } of LISTS) {
    const wanted = parameters.get(name)?.split(",");
    for (const box of form.querySelectorAll(`[name=${name}]`)) box.checked = !wanted || wanted.includes(box.value);
  }
  for (const name of DATES) {
    const field = form.querySelector(`[name=${name}]`);
    if (field) field.value = parameters.get(name) ?? "";
  }
  showState();
}
