// Light or dark: as the system has it, or as somebody chose.

const KEY = "theme";
const root = document.documentElement;

/** What was chosen before, if the browser lets a page keep anything. */
function kept() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function keep(theme) {
  try { localStorage.setItem(KEY, theme); } catch { /* It is chosen for this once. */ }
}

/** Wires the button that changes between both. */
export function wireTheme(button) {
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const apply = theme => {
    if (theme) root.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(isDark()));
  };
  apply(kept());
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    keep(theme);
    apply(theme);
  });
}
