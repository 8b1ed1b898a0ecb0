// Creates exercises and checks answers. A seed gives the same questions as in the Rust code.

import { SMALL, grow } from "./growth.js";
import { Random } from "./random.js";
import { METHODS, watch } from "./story.js";

/** Depths and branching factors of trees that are small enough to search by hand. */
const SHAPES = [[3, 2], [2, 3]];
const SPREAD = 9;
const ALGORITHMS = ["alpha-beta", "pvs"];
const DISPLAY_NAMES = { "alpha-beta": "Alpha-beta", pvs: "PVS" };
const TIMES = ["first", "second", "third", "fourth"];
const KINDS = ["cut", "bound", "leaves"];

export class Exercises {
  #random; #number = 0;

  constructor(seed) { this.#random = new Random(seed); }

  /** Returns the next exercise. Generates trees until one is suitable for the question. */
  next() {
    const number = ++this.#number, kind = KINDS[(number - 1) % KINDS.length];
    for (;;) {
      const [depth, branching] = SHAPES[this.#random.below(SHAPES.length)];
      const seed = this.#random.next();
      const algorithm = ALGORITHMS[this.#random.below(ALGORITHMS.length)];
      const tree = grow({ ...SMALL, seed, depth, branching, spread: SPREAD });
      const record = watch(tree, METHODS.find(method => method.name === algorithm));
      const asked = { cut: askCut, bound: askBound, leaves: askLeaves }[kind](this.#random, record, tree);
      if (asked) {
        const question = `${DISPLAY_NAMES[algorithm]} searches this tree from left to right. ${asked.question}`;
        return { number, kind, tree: tree.toString(), algorithm, question, answers: asked.answers, reason: asked.reason };
      }
    }
  }
}

function askCut(random, record) {
  const cutoffs = record.steps.filter(step => step.kind === "cutoff");
  if (cutoffs.length === 0) return null;
  const asked = random.below(cutoffs.length);
  const cutAt = ({ node, visit }) => record.tree[node].visits[visit].cut;
  const before = cutoffs.slice(0, asked).map(step => `${cutAt(step).join(" and ")} at ${record.tree[step.node].name}`);
  const question = asked === 0 ? "Which node does it cut off first?" : `So far it has cut off ${before.join(", ")}. Which node does it cut off next?`;
  return { question, answers: cutAt(cutoffs[asked]), reason: cutoffs[asked].text };
}

function askBound(random, record) {
  const bounds = record.steps.flatMap((step, at) => {
    if (step.kind !== "enter" && step.kind !== "leaf") return [];
    const visit = record.tree[step.node].visits[step.visit];
    return ["alpha", "beta"].filter(which => visit[which] !== null).map(which => [at, which, visit[which]]);
  });
  if (bounds.length === 0) return null;
  const [at, which, bound] = bounds[random.below(bounds.length)];
  const step = record.steps[at], node = record.tree[step.node];
  const time = node.visits.length === 1 ? "" : ` for the ${TIMES[Math.min(step.visit, TIMES.length - 1)]} time`;
  const raised = record.steps.slice(0, at).findLast(({ kind, text, node: raiser }) =>
    kind === "raise" && text.startsWith(`${record.tree[raiser].name}: ${which} = ${bound} by `) && isAbove(record.tree, raiser, step.node));
  return {
    question: `It comes to ${node.name}${time}. What is ${which} there?`,
    answers: [String(bound)],
    reason: raised ? `${raised.text}; so ${step.text}` : `${step.text}: a null window is one wide`,
  };
}

function isAbove(tree, above, node) {
  for (let at = tree[node].parent; at !== null; at = tree[at].parent) if (at === above) return true;
  return false;
}

function askLeaves(_random, record, tree) {
  const leaves = record.tree.filter(node => tree.isLeaf(tree.find(node.name)));
  const names = visited => leaves.filter(leaf => (leaf.kind !== null) === visited).map(leaf => leaf.name);
  const [visited, never] = [names(true), names(false)];
  return {
    question: "How many leaves does it visit? One that it visits again counts once.",
    answers: [String(visited.length)],
    reason: `visited: ${visited.join(" ")}${never.length > 0 ? `; never: ${never.join(" ")}` : ""}`,
  };
}

/** Returns whether an answer consists of one or more correct answers and no others. */
export function isRight(exercise, answer) {
  const words = answer.replaceAll("−", "-").split(/[\s,;]+/).filter(word => word).map(word => word.toLowerCase().replace(/^\+(?=\d)/, ""));
  const right = new Set(exercise.answers.map(one => one.toLowerCase()));
  return words.length > 0 && words.every(word => right.has(word));
}
