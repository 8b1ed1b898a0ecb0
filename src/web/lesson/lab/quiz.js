// The view of the exercises: asks questions and checks answers.

import { byId, make } from "./dom.js";
import { Exercises, isRight } from "./exercise.js";
import { TreePicture, unsearched, written } from "./picture.js";
import { GameTree } from "./tree.js";

/** The view of the exercises. Calls `onWatch` with a tree and a search to show. */
export class Quiz {
  #exercises = null; #exercise = null; #picture = new TreePicture(null); #right = 0; #answered = 0; #isMarked = false;

  constructor(onWatch) {
    byId("quiz-tree").append(this.#picture.root);
    byId("quiz-form").addEventListener("submit", event => { event.preventDefault(); this.#mark(); });
    byId("quiz-next").addEventListener("click", () => this.#next());
    byId("quiz-seed").addEventListener("change", () => this.#begin());
    byId("quiz-watch").addEventListener("click", () => onWatch(GameTree.parse(this.#exercise.tree), this.#exercise.algorithm));
  }

  /** Shows the view, and the first exercise if there is none yet. */
  show() {
    if (this.#exercises) this.paint();
    else this.#begin();
  }

  paint() {
    if (!this.#exercise) return;
    const tree = GameTree.parse(this.#exercise.tree);
    this.#picture.take(unsearched(tree));
    this.#picture.paint(0, null, new Map(tree.nodes.filter(node => node.value !== null).map(node => [node.name, node.value])));
  }

  #begin() {
    const text = byId("quiz-seed").value.trim();
    this.#exercises = new Exercises(/^\d{1,20}$/.test(text) ? BigInt(text) : 1n);
    [this.#right, this.#answered] = [0, 0];
    this.#next();
  }

  #next() {
    this.#exercise = this.#exercises.next();
    this.#isMarked = false;
    byId("quiz-number").textContent = `Exercise ${this.#exercise.number}`;
    byId("quiz-question").textContent = this.#exercise.question;
    byId("quiz-answer").value = "";
    byId("quiz-verdict").replaceChildren();
    byId("quiz-watch").hidden = true;
    this.#score();
    this.paint();
  }

  #mark() {
    const answer = byId("quiz-answer").value;
    if (answer.trim() === "") return;
    const right = isRight(this.#exercise, answer), { answers, reason } = this.#exercise;
    // Only the first answer counts, because the explanation gives the solution.
    if (!this.#isMarked) {
      this.#answered++;
      if (right) this.#right++;
    }
    this.#isMarked = true;
    byId("quiz-verdict").replaceChildren(
      make("strong", { class: right ? "right" : "wrong" }, right ? "Right. " : `No: ${written(answers.join(" or "))}. `), make("span", {}, written(reason)));
    byId("quiz-watch").hidden = false;
    this.#score();
  }

  #score() {
    byId("quiz-score").textContent = this.#answered > 0 ? `${this.#right} of ${this.#answered} right` : "";
  }
}
