// A timeline of PV-splitting, shown as a picture and as a list of what each thread did.

import { draw } from "./dom.js";
import { splitOnAClock } from "./splitting.js";

const CLOCK = { narrowest: 300, widest: 700, left: 34, right: 8, top: 24, row: 34, bar: 24 };
/** Approximate number of labelled ticks. */
const CLOCK_NUMBERS = 10;
/** Width of a letter in a bar, in pixels. */
const LETTER = 7.5;

export const SPLITTING = "pv-splitting";

/** Records PV-splitting in the same form as other searches. Its steps have ticks instead of nodes. */
export function watchSplitting(tree, threads) {
  const timeline = splitOnAClock(tree, threads);
  const steps = timeline.spans.map(span => ({ kind: span.work, text: span.text, span }));
  return { algorithm: SPLITTING, timeline, steps, summary: timeline.summary, value: timeline.value, nodes: timeline.visits, distinct: null, cutoffs: null, researches: timeline.spans.filter(span => span.work === "again").length, hits: 0 };
}

/** Returns the timeline after `step` steps, at most `room` pixels wide. Later work is pale. */
export function clockPicture({ timeline, steps }, step, room) {
  const { threads, ticks } = timeline, width = Math.max(CLOCK.narrowest, Math.min(CLOCK.widest, room)), height = CLOCK.top + CLOCK.row * threads + 4;
  const x = tick => CLOCK.left + (width - CLOCK.left - CLOCK.right) * tick / ticks;
  const svg = draw("svg", { class: "clock", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Work of ${threads} ${threads === 1 ? "thread" : "threads"} in ${ticks} ${ticks === 1 ? "tick" : "ticks"}` });
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(every => ticks / every <= CLOCK_NUMBERS) ?? Math.ceil(ticks / CLOCK_NUMBERS);
  for (let tick = 0; tick <= ticks; tick += every) {
    svg.append(draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: CLOCK.top - 4, y2: height }), draw("text", { class: "small", x: x(tick), y: CLOCK.top - 9 }, tick));
  }
  for (let thread = 1; thread <= threads; thread++) svg.append(draw("text", { class: "row", x: CLOCK.left - 10, y: CLOCK.top + CLOCK.row * (thread - .5) + 4 }, thread));
  steps.forEach(({ span, text }, index) => {
    const { thread, begin, end, node, work, stopped } = span, y = CLOCK.top + CLOCK.row * (thread - 1) + (CLOCK.row - CLOCK.bar) / 2, wide = x(end) - x(begin);
    const group = draw("g", { class: `job ${work}${stopped ? " stopped" : ""}${index >= step ? " later" : ""}${index === step - 1 ? " now" : ""}` }, draw("title", {}, text));
    group.append(draw("rect", { x: x(begin) + .5, y, width: Math.max(1, wide - 1), height: CLOCK.bar, rx: 3 }));
    if (wide > LETTER * node.length) group.append(draw("text", { x: (x(begin) + x(end)) / 2, y: y + CLOCK.bar / 2 + 4 }, node));
    svg.append(group);
  });
  if (step > 0) svg.append(draw("line", { class: "cursor", x1: x(steps[step - 1].span.end), x2: x(steps[step - 1].span.end), y1: CLOCK.top - 4, y2: height }));
  return svg;
}
