/** Light, dark, or as the system: `data-theme` of the page, kept in this browser for the login page. */

export type Theme = "system" | "light" | "dark";
const KEY = "motorpool.theme";

/** Show a theme; without one, the last of this browser. */
export function applyTheme(wanted?: unknown): void {
  const theme = isTheme(wanted) ? wanted : stored();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  if (isTheme(wanted)) localStorage.setItem(KEY, wanted);
}

export function isTheme(value: unknown): value is Theme {
  return value === "system" || value === "light" || value === "dark";
}

function stored(): Theme {
  const found = localStorage.getItem(KEY);
  return isTheme(found) ? found : "system";
}
