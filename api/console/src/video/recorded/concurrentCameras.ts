/** The vehicles asked for several cameras at once; others are assumed to send one camera after the other. */

const KEY = "motorpool.atOnce";
const MOST = 200;

export function asksAtOnce(deviceId: number): boolean {
  return stored().includes(deviceId);
}

export function askAtOnce(deviceId: number, asks: boolean): void {
  const others = stored().filter((each) => each !== deviceId);
  localStorage.setItem(KEY, JSON.stringify((asks ? [deviceId, ...others] : others).slice(0, MOST)));
}

function stored(): readonly number[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter(Number.isInteger) : [];
  } catch {
    return [];
  }
}
