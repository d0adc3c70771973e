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

/** Have the page know, while it is printed, whether its maps and graphs were drawn in the dark theme. */
export function followPrinting(): void {
  window.addEventListener("beforeprint", () => {
    const { color } = getComputedStyle(document.body);
    document.documentElement.classList.toggle("drawn-dark", isLight(color));
  });
}

/** Whether a color of CSS, such as the one of text, is nearer to white. */
function isLight(color: string): boolean {
  const parts = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  return parts.reduce((sum, part) => sum + part, 0) > (3 * 255) / 2;
}
