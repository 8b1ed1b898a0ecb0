// Creates elements from names, attributes and children. Text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = id => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined).map(child => child instanceof Node ? child : String(child)));
  return element;
}

export const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

export const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Formats a number with thousands separators. */
export const grouped = number => number.toLocaleString("en-US");

/** Formats a fraction as a percentage. */
export const percent = share => `${Math.round(100 * share)}%`;

/** Formats a score from the side to move's point of view, in pawns or in moves to mate. */
export function score(answer) {
  if ("mate" in answer) return answer.mate > 0 ? `#${answer.mate}` : `#−${-answer.mate}`;
  return (answer.cp < 0 ? "−" : "+") + (Math.abs(answer.cp) / 100).toFixed(2);
}

/** Makes a button show and hide a part of the page. Escape hides it. */
export function disclose(button, part) {
  const show = isShown => {
    part.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
  };
  button.addEventListener("click", () => show(part.hidden));
  for (const element of [button, part]) {
    element.addEventListener("keydown", event => {
      if (event.key !== "Escape" || part.hidden) return;
      event.preventDefault();
      button.focus();
      show(false);
    });
  }
}
