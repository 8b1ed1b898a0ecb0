// The light or dark theme: the system's setting unless the user has chosen one.

const KEY = "theme";
const root = document.documentElement;

/** Returns the theme that was chosen earlier, if the browser lets the page store data. */
function kept() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function keep(theme) {
  try { localStorage.setItem(KEY, theme); } catch { /* The choice applies only to this visit. */ }
}

/** Connects the button that switches between the themes. */
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
