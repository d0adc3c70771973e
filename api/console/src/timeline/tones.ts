/** Colors of styles/tokens.css for a canvas, which knows neither `var()` nor `light-dark()`. */

/** A lookup of the colors as the theme of the page has them now. */
export function tonesNow(): (tone: string) => string {
  const known = new Map<string, string>();
  return (tone) => {
    let found = known.get(tone);
    if (found === undefined) {
      const probe = document.createElement("span");
      probe.hidden = true;
      probe.style.color = `var(--${tone})`;
      document.body.append(probe);
      found = getComputedStyle(probe).color;
      probe.remove();
      known.set(tone, found);
    }
    return found;
  };
}
