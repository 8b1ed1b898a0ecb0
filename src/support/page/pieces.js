// Drawings of the pieces, made for Tabia. A square is 48 by 48 units. Each piece has a body with lines on it.

import { draw } from "./dom.js";

const FOOT = "M11.5 41.5c0-3 1.2-4.6 3.4-5.2h18.2c2.2.6 3.4 2.2 3.4 5.2z";

const BODIES = {
  p: ["M24 9.4a6.3 6.3 0 0 0-4.5 10.7c-1.8.7-2.9 1.8-2.9 3.3h4.1c-.2 5.4-2.3 9.6-6.3 12.9h19.2c-4-3.3-6.1-7.5-6.3-12.9h4.1c0-1.5-1.1-2.6-2.9-3.3A6.3 6.3 0 0 0 24 9.4z"],
  r: ["M12.6 9.2h5.1v3.3h3.7V9.2h5.2v3.3h3.7V9.2h5.1v7.2l-3.7 3.3v13.2l2.2 3.4H14.1l2.2-3.4V19.7l-3.7-3.3z", "M16.4 20h15.2M16.4 32.6h15.2"],
  n: ["M13.9 36.3c-.2-6.6 3.2-9.8 7.3-13.2-2.6.300-4.5 1.1-5.7 2.3-1 1-2.7 1.5-3.9.400-1.4-1.2-1.3-2.7-.500-4.200l4.7-8.500c.4-2.2 1.5-3.7 3.3-4.900l-.200-3.4 4.1 2.600c8.5.300 12.9 6.9 12.9 16.5 0 4.8-.500 8.7-1.6 12.400z", "M29.8 12.800c2.3 2.8 3.1 6.8 2.8 12.2"],
  b: ["M24 5.700a2.7 2.7 0 0 1 1.7 4.800c4.5 3 7.3 6.9 7.3 11.2 0 3.2-1.6 5.6-3.9 7.200h2.100v3h-3.600l2.3 4.400H18.100l2.3-4.400h-3.600v-3h2.100c-2.3-1.6-3.9-4-3.9-7.2 0-4.3 2.8-8.2 7.3-11.200A2.7 2.7 0 0 1 24 5.700z", "M24 15.600v8M20.6 19.200h6.800M19.4 28.900h9.200M20.2 31.900h7.6"],
  q: ["M9.6 12.600l5.5 10.700L16.3 9.800l5.5 12.300L24 8.200l2.2 13.9 5.5-12.3 1.2 13.5 5.5-10.7-3 17.600c-.3 2.3-1.5 4.2-2.4 6.100H15c-.900-1.9-2.1-3.8-2.4-6.100z", "M13.2 30c6.8-2 14.8-2 21.6 0"],
  k: ["M24 16c2.3-3.7 5.6-4.9 8.8-4.1 4.2 1 5.9 5.1 4.5 9.2-1.3 3.7-4.5 6.5-5.6 9.800l-.700 5.400H17l-.700-5.400c-1.1-3.3-4.3-6.1-5.6-9.8-1.4-4.1.300-8.2 4.5-9.2 3.2-.8 6.5.400 8.8 4.100z", "M24 4.600v11.400M20.3 7.900h7.400M24 16v13M16.3 31c4.8-1.7 10.6-1.7 15.4 0"],
};

const DOTS = {
  n: [[19.8, 14.9, 1.3]],
  q: [[9.6, 11.6, 2.2], [16.3, 8.8, 2.2], [24, 7.2, 2.2], [31.7, 8.8, 2.2], [38.4, 11.6, 2.2]],
};

export const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/** Draws the piece of a FEN letter. */
export function piece(letter) {
  const kind = letter.toLowerCase();
  const side = letter === kind ? "black" : "white";
  const [body, lines] = BODIES[kind];
  const picture = draw("svg", { viewBox: "0 0 48 48", class: `piece ${side}`, "aria-hidden": "true" });
  for (const [cx, cy, r] of kind === "q" ? DOTS.q : []) picture.append(draw("circle", { cx, cy, r, class: "body" }));
  picture.append(draw("path", { d: FOOT, class: "body" }), draw("path", { d: body, class: "body" }));
  if (lines) picture.append(draw("path", { d: lines, class: "lines" }));
  for (const [cx, cy, r] of kind === "n" ? DOTS.n : []) picture.append(draw("circle", { cx, cy, r, class: "dot" }));
  return picture;
}
