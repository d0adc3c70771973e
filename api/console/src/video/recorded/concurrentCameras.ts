/** The vehicles asked for several cameras at once; others are assumed to send one camera after the other. */

import { keepForUser, readForUser } from "../../state/userStorage";

const KEY = "atOnce";
const MOST = 200;

export function asksAtOnce(deviceId: number): boolean {
  return stored().includes(deviceId);
}

export function askAtOnce(deviceId: number, asks: boolean): void {
  const others = stored().filter((each) => each !== deviceId);
  keepForUser(KEY, (asks ? [deviceId, ...others] : others).slice(0, MOST));
}

function stored(): readonly number[] {
  const found = readForUser(KEY);
  return Array.isArray(found) ? found.filter(Number.isInteger) : [];
}
