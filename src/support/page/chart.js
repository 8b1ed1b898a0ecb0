// Line charts, such as evaluations by move.

import { draw } from "./dom.js";

const WIDTH = 480, HEIGHT = 150, LEFT = 38, RIGHT = 6, EDGE = 8;

/**
 * A line chart of values between two bounds. A `null` value leaves a gap. `other` contains the values of a
 * second line. `marks` contains the heights and labels of horizontal lines. `dots` contains the indices and
 * CSS classes of highlighted points. Calls `onPick` with the index that the user clicks.
 */
export class Curve {
  svg; #cursor; #count;

  constructor(values, { low, high, marks, label, dots = [], onPick = null, fill = null, other = [] }) {
    this.#count = values.length;
    const y = value => EDGE + (HEIGHT - 2 * EDGE) * (high - Math.max(low, Math.min(high, value))) / (high - low);
    this.svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: onPick ? "curve live" : "curve", role: "img", "aria-label": label });
    if (fill !== null) this.svg.append(draw("path", { class: "under", d: this.#area(values, y, y(fill)) }));
    for (const [value, text] of marks) {
      this.svg.append(draw("line", { class: "mark", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
        draw("text", { x: LEFT - 4, y: y(value) + 4, "text-anchor": "end" }, text));
    }
    this.svg.append(draw("path", { class: "line", d: this.#path(values, y) }));
    if (other.length > 0) this.svg.append(draw("path", { class: "line other", d: this.#path(other, y) }));
    for (const [at, kind] of dots) {
      if (values[at] !== null) this.svg.append(draw("circle", { class: kind, cx: this.#x(at), cy: y(values[at]), r: 4 }));
    }
    this.#cursor = draw("line", { class: "cursor", y1: 0, y2: HEIGHT });
    if (onPick) {
      this.svg.append(this.#cursor);
      this.svg.addEventListener("click", event => onPick(this.#at(event)));
    }
  }

  /** Moves the cursor to an index. */
  point(at) {
    for (const end of ["x1", "x2"]) this.#cursor.setAttribute(end, this.#x(at));
  }

  #x(at) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (this.#count < 2 ? 0 : at / (this.#count - 1));
  }

  #at(event) {
    const box = this.svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    return Math.round((x - LEFT) / (WIDTH - LEFT - RIGHT) * (this.#count - 1));
  }

  #path(values, y) {
    let pen = "M";
    return values.map((value, at) => {
      if (value === null) return "";
      const point = `${pen}${this.#x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return point;
    }).join("");
  }

  #area(values, y, base) {
    const known = values.map((value, at) => [at, value]).filter(([, value]) => value !== null);
    if (known.length === 0) return "";
    const [first, last] = [known[0][0], known.at(-1)[0]].map(at => this.#x(at).toFixed(1));
    return `${this.#path(values, y)}L${last} ${base}L${first} ${base}Z`;
  }
}
