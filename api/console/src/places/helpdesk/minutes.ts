/** Business minutes in words and in two parts of a form. Pure. */

export type Unit = "minutes" | "hours";

/** `240` is 4 hours, `90` is 90 minutes; 0 is none. */
export function partsOf(minutes: number): { count: number; unit: Unit } {
  if (minutes > 0 && minutes % 60 === 0) return { count: minutes / 60, unit: "hours" };
  return { count: minutes, unit: "minutes" };
}

export function minutesOf(count: number, unit: Unit): number {
  return Math.round(count * (unit === "hours" ? 60 : 1));
}

const SIGNS = { hours: "h", minutes: "min" } as const;

/** `24 h`, `1 h 30 min`: never in days, since a day of business hours is no day. */
export function minutesText(minutes: number, language: string): string {
  const parts = [
    [Math.floor(minutes / 60), "hours"],
    [Math.floor(minutes % 60), "minutes"],
  ] as const;
  const shown = parts.filter(([count]) => count > 0);
  return (shown.length > 0 ? shown : parts.slice(1))
    .map(([count, unit]) => `${count.toLocaleString(language)} ${SIGNS[unit]}`)
    .join(" ");
}
