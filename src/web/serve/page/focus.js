// Keeps the keyboard focus when the focused element is removed, hidden or disabled.

const FOCUSABLE = "button, a[href], input, select, textarea, summary, [tabindex]:not([role=gridcell])";

const isVisible = element => element.isConnected && element.getClientRects().length > 0;
const isUsable = element => isVisible(element) && !element.disabled;

/** Returns the element that gets the focus after `lost`, whose last ancestors were `ancestors`, innermost first. */
function successor(lost, ancestors) {
  for (const place of ancestors.filter(isVisible)) {
    const others = [...place.querySelectorAll(FOCUSABLE)].filter(other => other !== lost && isUsable(other));
    const parent = ancestors[0].tagName;
    // The same control, the marked one, or the first of its kind.
    const found = others.find(other => other.textContent === lost.textContent && other.tagName === lost.tagName)
      ?? others.find(other => other.ariaCurrent) ?? others.find(other => other.parentElement.tagName === parent) ?? others[0];
    if (found) return found;
  }
  return null;
}

/** Watches the focus. Only a focus that is shown is kept, because a mouse does not need it. */
export function keepFocus() {
  let [focused, ancestors] = [null, []];
  addEventListener("focusin", ({ target }) => {
    focused = target.matches(":focus-visible") ? target : null;
    ancestors = [];
    for (let place = target.parentElement; place; place = place.parentElement) ancestors.push(place);
  });
  addEventListener("pointerdown", () => { focused = null; }, true);
  const restore = () => {
    if (!focused || isUsable(focused) || document.querySelector("dialog[open]")) return;
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === focused) successor(focused, ancestors)?.focus({ preventScroll: true });
  };
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled", "hidden"] });
}
