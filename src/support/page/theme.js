// The colour theme that the user selected, or else that of the operating system.

const KEY = "theme";
const root = document.documentElement;

/** Returns a saved choice, or `null` if there is none or the browser denies access to storage. */
export function saved(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

/** Saves a choice. If the browser denies access to storage, the choice is lost when the page is closed. */
export function save(key, text) {
  try { localStorage.setItem(key, text); } catch { /* See above. */ }
}

/** Makes a button switch between the light and dark themes. */
export function wireTheme(button) {
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const apply = theme => {
    if (theme) root.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(isDark()));
  };
  apply(saved(KEY));
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    save(KEY, theme);
    apply(theme);
  });
}
