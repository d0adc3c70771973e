/** The present, for ages and relative spans: one timer for all of the page. */

import { signal } from "@preact/signals";

const BEAT = 1000;

/** Milliseconds since 1970, each second while the page is looked at. */
export const now = signal(Date.now());

let timer = 0;

/** Let `now` go on while the page is looked at. */
export function startClock(): void {
  document.addEventListener("visibilitychange", follow);
  follow();
}

function follow(): void {
  clearInterval(timer);
  if (document.hidden) return;
  tick();
  timer = window.setInterval(tick, BEAT);
}

function tick(): void {
  now.value = Date.now();
}
