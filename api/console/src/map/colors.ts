/** The map's colors: those of the page, for WebGL and canvas, which know neither `var()` nor `light-dark()`. */

const NAMES = [
  "accent",
  "accent-ink",
  "bad",
  "card",
  "edge",
  "field-edge",
  "ink",
  "map-border",
  "map-land",
  "map-name",
  "map-water",
  "moving",
  "offline",
  "online",
  "speed-0",
  "speed-1",
  "speed-2",
  "speed-3",
  "speed-4",
  "speed-5",
  "speed-6",
  "speed-7",
  "speed-8",
  "speed-9",
  "unknown",
] as const;

export type Colors = Record<(typeof NAMES)[number], string> & { dark: boolean };

/** The colors of styles/tokens.css as the theme of the page has them now. */
export function colorsNow(): Colors {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const found = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.style.color = "light-dark(#fff, #000)";
  const dark = getComputedStyle(probe).color === "rgb(0, 0, 0)";
  probe.remove();
  return { ...(Object.fromEntries(found) as Record<(typeof NAMES)[number], string>), dark };
}

/** Call `changed` when the page gets the other theme; the returned function ends that. */
export function onTheme(changed: () => void): () => void {
  let before = colorsNow().dark;
  const look = () => {
    const { dark } = colorsNow();
    if (dark === before) return;
    before = dark;
    changed();
  };
  const observer = new MutationObserver(look);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", look);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", look);
  };
}

/** Any color of CSS as `#rrggbb`; black for what is none. */
export function hexOf(color: string): string {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return "#000000";
  context.fillStyle = "#000000";
  context.fillStyle = color;
  return context.fillStyle.startsWith("#") ? context.fillStyle : "#000000";
}
