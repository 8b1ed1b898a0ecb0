// Searches of a tree, to be gone through step by step.

import { byId, draw } from "./dom.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);
const LEAF = 116, LEVEL = 104, MARGIN = 58, R = 21, ROW = 13;
let story, children, step, folded;

/* Where the nodes stand that are not folded away: leaves side by side, parents in the middle. */
function layout() {
  const points = new Map();
  let leaves = 0, depth = 0;
  const place = id => {
    const below = folded.has(id) ? [] : children[id];
    const xs = below.map(place);
    const x = xs.length ? (xs[0] + xs[xs.length - 1]) / 2 : MARGIN + LEAF * leaves++;
    points.set(id, [x, MARGIN + LEVEL * story.tree[id].ply]);
    depth = Math.max(depth, story.tree[id].ply);
    return x;
  };
  if (story.tree.length) place(0);
  return { points, width: 2 * MARGIN + LEAF * Math.max(0, leaves - 1), height: 2 * MARGIN + LEVEL * depth };
}

/* What is known after the current step: for each node its visits so far, and the counts. */
function known() {
  const nodes = story.tree.map(() => ({ visits: [], bounds: "" }));
  const counts = { visited: 0, cutoffs: 0, again: 0 };
  for (const happening of story.steps.slice(0, step)) {
    const node = nodes[happening.node], told = story.tree[happening.node].visits[happening.visit];
    if (happening.kind === "enter" || happening.kind === "leaf") {
      node.visits.push({ window: told.window, null: told.null, kind: told.kind, value: null, cutoff: null });
      counts.visited++;
      if (told.again) counts.again++;
    }
    const visit = node.visits[happening.visit];
    if (happening.kind === "cutoff") { visit.cutoff = told.cutoff; counts.cutoffs++; }
    if (happening.kind === "leave" || happening.kind === "leaf") visit.value = `${sign(told.relation)} ${told.value}`;
  }
  return { nodes, counts };
}

const sign = relation => ({ ">=": "≥", "<=": "≤" })[relation] || relation;
const greek = text => text.replace("alpha", "α").replace("beta", "β").replace(">=", "≥");

function classOf(id, node, over) {
  const { kind, on_line } = story.tree[id];
  if (!kind) return isCut(id) ? "never" : "unseen";
  if (!node.visits.length) return "unseen";
  const last = node.visits[node.visits.length - 1];
  return (last.value ? last.kind : "open") + (over && on_line ? " line" : "");
}

/* Whether a node that is never visited has been cut off by the current step. */
let cutNow = new Set();
const isCut = id => cutNow.has(id);
function findCut(nodes) {
  cutNow = new Set();
  story.tree.forEach((node, id) => {
    if (node.kind) return;
    const above = nodes[node.parent];
    if (cutNow.has(node.parent) || above.visits.some(visit => visit.cutoff)) cutNow.add(id);
  });
}

function paint() {
  const { points, width, height } = layout();
  const { nodes, counts } = known();
  findCut(nodes);
  const over = step === story.steps.length;
  const now = step ? story.steps[step - 1] : null;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  for (const [id, [x, y]] of points) {
    const node = story.tree[id], kind = classOf(id, nodes[id], over);
    if (node.parent === null) continue;
    const [px, py] = points.get(node.parent), top = py + R, bottom = y - R;
    svg.append(draw("line", { class: `edge ${kind}`, x1: px, y1: top, x2: x, y2: bottom }));
    nodes[id].visits.forEach((visit, index) => {
      const at = bottom - 5 - (nodes[id].visits.length - index - 1) * ROW;
      const along = x + (px - x) * (bottom - at) / (bottom - top);
      if (story.windows) svg.append(draw("text", { class: `small halo ${visit.null ? "null" : ""}`, x: along, y: at }, visit.window));
    });
  }
  for (const [id, point] of points) svg.append(drawNode(id, point, nodes[id], over, now));
  for (const [id, [x, y]] of points) {
    const whys = nodes[id].visits.filter(visit => visit.cutoff);
    const cut = children[id].find(child => !story.tree[child].kind);
    whys.forEach((visit, index) => {
      svg.append(draw("text", { class: "why halo", x: x + R + 5, y: y + 8 + ROW * (index + (story.tree[id].hidden && over ? 1 : 0)) }, greek(visit.cutoff)));
      const [cx, cy] = points.get(cut) || [x + 2 * (R + 9), y + 2 * R];
      const sx = (x + cx) / 2, sy = (y + cy) / 2;
      for (const shift of [-3, 3]) svg.append(draw("line", { class: "slash", x1: sx - 9, y1: sy + shift + 4, x2: sx + 9, y2: sy + shift - 4 }));
    });
  }
  byId("picture").replaceChildren(svg);
  byId("now").textContent = now ? now.text : "before the search";
  byId("counts").textContent = `step ${step} of ${story.steps.length}: ${counts.visited} nodes visited, ${counts.cutoffs} cut off, ${counts.again} searched again`;
  markSteps();
}

function drawNode(id, [x, y], state, over, now) {
  const node = story.tree[id];
  const group = draw("g", { class: `node ${classOf(id, state, over)} ${now && now.node === id ? "now" : ""}` });
  group.append(node.max ? draw("rect", { class: "shape", x: x - R, y: y - R, width: 2 * R, height: 2 * R, rx: 3 }) : draw("circle", { class: "shape", cx: x, cy: y, r: R }));
  const print = node.name.length > 7 ? 8 : node.name.length > 5 ? 10 : 13;
  group.append(draw("text", { x, y: y + 4.5, style: `font-size:${print}px` }, node.name));
  const lines = [];
  const values = state.visits.map(visit => visit.value).filter(Boolean);
  if (values.length) lines.push(values.join(", "));
  if (node.hidden && over) lines.push(`${node.hidden} below`);
  const bare = !children[id].length || folded.has(id);
  const at = index => bare ? { x, y: y + R + ROW * (index + 1) } : { x: x + R + 5, y: y - 6 + ROW * index, style: "text-anchor:start" };
  lines.forEach((text, index) => group.append(draw("text", { class: "small halo", ...at(index) }, text)));
  if (folded.has(id)) group.append(draw("text", { class: "fold halo", ...at(lines.length) }, `▸ ${size(id) - 1} folded`));
  group.addEventListener("click", () => {
    if (!children[id].length) return;
    if (!folded.delete(id)) folded.add(id);
    paint();
  });
  return group;
}

const size = id => 1 + children[id].reduce((sum, child) => sum + size(child), 0);

function listSteps() {
  byId("steps").replaceChildren(...story.steps.map((happening, index) => {
    const item = document.createElement("li");
    item.textContent = "  ".repeat(story.tree[happening.node].ply) + happening.text;
    item.className = happening.kind;
    item.addEventListener("click", () => go(index + 1));
    return item;
  }));
}

function markSteps() {
  [...byId("steps").children].forEach((item, index) => {
    item.classList.toggle("later", index >= step);
    item.classList.toggle("now", index === step - 1);
    if (index === step - 1) item.scrollIntoView({ block: "nearest" });
  });
}

function go(to) {
  step = Math.max(0, Math.min(story.steps.length, to));
  byId("slider").value = step;
  paint();
}

function choose(index) {
  story = data.stories[index];
  children = story.tree.map(() => []);
  story.tree.forEach((node, id) => { if (node.parent !== null) children[node.parent].push(id); });
  folded = new Set();
  byId("slider").max = story.steps.length;
  byId("summary").textContent = story.summary + (story.hidden ? ` (${story.hidden} visits are not shown)` : "");
  listSteps();
  go(story.steps.length);
}

byId("title").textContent = document.title = data.title;
wireTheme(byId("theme"));
data.stories.forEach((one, index) => byId("which").append(new Option(one.algorithm, index)));
byId("which").addEventListener("change", event => choose(Number(event.target.value)));
byId("first").addEventListener("click", () => go(0));
byId("back").addEventListener("click", () => go(step - 1));
byId("next").addEventListener("click", () => go(step + 1));
byId("last").addEventListener("click", () => go(story.steps.length));
byId("unfold").addEventListener("click", () => { folded.clear(); paint(); });
byId("slider").addEventListener("input", event => go(Number(event.target.value)));
document.addEventListener("keydown", event => {
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: story.steps.length }[event.key];
  if (to === undefined || event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
  event.preventDefault();
  go(to);
});
/* A page can be opened at a search and a step: #1,17 */
const [search, at] = location.hash.slice(1).split(",").map(Number);
byId("which").value = search || 0;
choose(search || 0);
if (at >= 0) go(at);