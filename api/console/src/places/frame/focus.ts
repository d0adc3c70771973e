/** Keeps the focus on the page: where what had it is gone, the place has it. */

import { effect } from "@preact/signals";
import { location } from "../../router";

const PLACE = "place";

/**
 * Begin to watch. A button that is disabled while it works gets the focus back when it is done, unless the reader
 * went elsewhere meanwhile.
 */
export function keepFocus(): void {
  let due = false;
  let last: Element | null = null;
  /** What was disabled while it had the focus. */
  let waiting: HTMLElement | null = null;

  function check() {
    due = false;
    const place = document.getElementById(PLACE);
    const active = document.activeElement;
    if (waiting?.isConnected && !waiting.matches(":disabled")) {
      if (active === place || active === document.body) waiting.focus();
      waiting = null;
    } else if (active === document.body && !document.querySelector("dialog[open]:modal")) {
      if (last instanceof HTMLElement && last.isConnected && last.matches(":disabled")) waiting = last;
      place?.focus({ preventScroll: true });
    }
    if (document.activeElement !== place) last = document.activeElement;
  }
  const checkSoon = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(check);
  };
  document.addEventListener("focusin", checkSoon);
  document.addEventListener("focusout", checkSoon);
  new MutationObserver(checkSoon).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["disabled"],
  });
  effect(() => {
    if (location.value) checkSoon();
  });
}
