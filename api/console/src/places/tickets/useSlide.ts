import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const SLIDE_MS = 250;

/** Let cards that another place was found for slide there; not the one that is held, and not for who wants no motion. */
export function useSlide(box: RefObject<HTMLElement | null>, heldId: number): void {
  const before = useRef(new Map<string, DOMRect>());
  const held = useRef(heldId);
  held.current = heldId;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || typeof element.animate !== "function") return undefined;
    const slide = () => {
      const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      const now = new Map<string, DOMRect>();
      for (const card of element.querySelectorAll<HTMLElement>("[data-ticket]")) {
        const id = card.dataset.ticket ?? "";
        const place = card.getBoundingClientRect();
        now.set(id, place);
        const was = before.current.get(id);
        if (!was || still || id === String(held.current)) continue;
        const [x, y] = [was.left - place.left, was.top - place.top];
        if (x === 0 && y === 0) continue;
        card.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], {
          duration: SLIDE_MS,
          easing: "ease-out",
        });
      }
      before.current = now;
    };
    // Who scrolls moves no card.
    const keep = () => {
      before.current = new Map();
    };
    const observer = new MutationObserver(slide);
    observer.observe(element, { childList: true, subtree: true });
    element.addEventListener("scroll", keep, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", keep, { capture: true });
    };
  }, []);
}
