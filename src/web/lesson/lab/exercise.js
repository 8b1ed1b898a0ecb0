// Exercises: the same questions from the same seed as in the program, and how answers are marked.

import { SMALL, grow } from "./growth.js";
import { Random } from "./random.js";
import { METHODS, watch } from "./story.js";

/** Trees to be gone through by hand: depth and branching. */
const SHAPES = [[3, 2], [2, 3]];
/** Leaves are worth from minus this to this. */
const SPREAD = 9;
const ASKED_ABOUT = ["alpha-beta", "pvs"];
const SPOKEN = { "alpha-beta": "Alpha-beta", pvs: "PVS" };
const TIMES = ["first", "second", "third", "fourth"];
const KINDS = ["cut", "bound", "leaves"];

/** The exercises of a seed, one after the other. */
export class Exercises {
  #random; #number = 0;

  constructor(seed) { this.#random = new Random(seed); }

  /** The next exercise: draws trees until there is something to ask about one. */
  next() {
    const number = ++this.#number, kind = KINDS[(number - 1) % KINDS.length];
    for (;;) {
      const [depth, branching] = SHAPES[this.#random.below(SHAPES.length)];
      const seed = this.#random.next();
      const algorithm = ASKED_ABOUT[this.#random.below(ASKED_ABOUT.length)];
      const tree = grow({ ...SMALL, seed, depth, branching, spread: SPREAD });
      const story = watch(tree, METHODS.find(method => method.name === algorithm));
      const asked = { cut: askCut, bound: askBound, leaves: askLeaves }[kind](this.#random, story, tree);
      if (asked) {
        const question = `${SPOKEN[algorithm]} searches this tree from left to right. ${asked.question}`;
        return { number, kind, tree: tree.toString(), algorithm, question, answers: asked.answers, reason: asked.reason };
      }
    }
  }
}

function askCut(random, story) {
  const cutoffs = story.steps.filter(step => step.kind === "cutoff");
  if (cutoffs.length === 0) return null;
  const asked = random.below(cutoffs.length);
  const cutAt = ({ node, visit }) => story.tree[node].visits[visit].cut;
  const before = cutoffs.slice(0, asked).map(step => `${cutAt(step).join(" and ")} at ${story.tree[step.node].name}`);
  const question = asked === 0 ? "Which node does it cut off first?" : `So far it has cut off ${before.join(", ")}. Which node does it cut off next?`;
  return { question, answers: cutAt(cutoffs[asked]), reason: cutoffs[asked].text };
}

function askBound(random, story) {
  const bounds = story.steps.flatMap((step, at) => {
    if (step.kind !== "enter" && step.kind !== "leaf") return [];
    const visit = story.tree[step.node].visits[step.visit];
    return ["alpha", "beta"].filter(which => visit[which] !== null).map(which => [at, which, visit[which]]);
  });
  if (bounds.length === 0) return null;
  const [at, which, bound] = bounds[random.below(bounds.length)];
  const step = story.steps[at], node = story.tree[step.node];
  const time = node.visits.length === 1 ? "" : ` for the ${TIMES[Math.min(step.visit, TIMES.length - 1)]} time`;
  const raised = story.steps.slice(0, at).findLast(({ kind, text, node: raiser }) =>
    kind === "raise" && text.startsWith(`${story.tree[raiser].name}: ${which} = ${bound} by `) && isAbove(story.tree, raiser, step.node));
  return {
    question: `It comes to ${node.name}${time}. What is ${which} there?`,
    answers: [String(bound)],
    reason: raised ? `${raised.text}; so ${step.text}` : `${step.text}: a null window is one wide`,
  };
}

/** Whether a node lies on the way from the root to another. */
function isAbove(tree, above, node) {
  for (let at = tree[node].parent; at !== null; at = tree[at].parent) if (at === above) return true;
  return false;
}

function askLeaves(_random, story, tree) {
  const leaves = story.tree.filter(node => tree.isLeaf(tree.find(node.name)));
  const names = visited => leaves.filter(leaf => (leaf.kind !== null) === visited).map(leaf => leaf.name);
  const [visited, never] = [names(true), names(false)];
  return {
    question: "How many leaves does it visit? One that it visits again counts once.",
    answers: [String(visited.length)],
    reason: `visited: ${visited.join(" ")}${never.length > 0 ? `; never: ${never.join(" ")}` : ""}`,
  };
}

/** Whether an answer is right: one of those that are, or several of them. */
export function isRight(exercise, answer) {
  const words = answer.replaceAll("−", "-").split(/[\s,;]+/).filter(word => word).map(word => word.toLowerCase().replace(/^\+(?=\d)/, ""));
  const right = new Set(exercise.answers.map(one => one.toLowerCase()));
  return words.length > 0 && words.every(word => right.has(word));
}
