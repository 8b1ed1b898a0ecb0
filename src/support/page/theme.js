// The colour scheme of the system, or the one that the user selected.

const KEY = "theme";
const root = document.documentElement;

/** Returns the saved theme, or `null` if there is none or the browser denies access to storage. */
function savedTheme() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function saveTheme(theme) {
  try { localStorage.setItem(KEY, theme); } catch { /* Storage is denied: the choice lasts until the page is closed. */ }
}

/** Makes a button switch between the light and dark themes. */
export function wireTheme(button) {
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const apply = theme => {
    if (theme) root.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(isDark()));
  };
  apply(savedTheme());
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    saveTheme(theme);
    apply(theme);
  });
}
