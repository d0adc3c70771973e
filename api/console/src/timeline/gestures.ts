/** Wheel, drag, pinch and click on a timeline, and its playhead, which is dragged. */

export interface Gestures {
  /** Pixels from the left, and how much longer the span becomes. */
  zoom: (x: number, factor: number) => void;
  /** The time goes by so many pixels to the right. */
  move: (pixels: number) => void;
  /** A press without a drag. */
  press: (x: number, y: number) => void;
  /** The playhead is dragged to pixels from the left; null where the hand lets go of it. */
  hold: (x: number | null) => void;
  /** Whether a drag that begins there marks a span. */
  marks: (x: number, y: number) => boolean;
  /** A span is being marked, or `done`; null where it was given up. */
  mark: (ends: { from: number; to: number; y: number } | null, done: boolean) => void;
}

const DRAG_PX = 4;
const WHEEL = 0.0016;

/** Listen on an element; the returned function ends it. */
export function listen(element: HTMLElement, gestures: () => Gestures): () => void {
  const ends = new AbortController();
  const options = { signal: ends.signal };
  const pointers = new Map<number, number>();
  let start: { x: number; y: number } | null = null;
  let kind: "press" | "move" | "mark" | "pinch" | "hold" = "press";
  /** How far from the playhead the hand took it; null where it took something else. */
  let beside: number | null = null;

  const place = (event: PointerEvent | WheelEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [one = 0, other = 0] = pointers.values();
    return { middle: (one + other) / 2, width: Math.max(20, Math.abs(one - other)) };
  };

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaMode === 0 ? 1 : 16;
      const across = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) gestures().move(-across * pixels);
      else gestures().zoom(place(event).x, Math.exp(event.deltaY * pixels * WHEEL));
    },
    { ...options, passive: false },
  );
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      const at = place(event);
      pointers.set(event.pointerId, at.x);
      if (pointers.size === 1) {
        start = at;
        kind = "press";
        const head = event.target instanceof Element ? event.target.closest("[role=slider]") : null;
        const box = head?.getBoundingClientRect();
        beside = box ? event.clientX - (box.left + box.right) / 2 : null;
        return;
      }
      if (kind === "mark") gestures().mark(null, true);
      if (kind === "hold") gestures().hold(null);
      kind = "pinch";
    },
    options,
  );
  element.addEventListener(
    "pointermove",
    (event) => {
      const before = pointers.get(event.pointerId);
      if (before === undefined || !start) return;
      const at = place(event);
      if (kind === "pinch") {
        const old = spread();
        pointers.set(event.pointerId, at.x);
        const next = spread();
        gestures().zoom(old.middle, old.width / next.width);
        gestures().move(next.middle - old.middle);
        return;
      }
      if (kind === "press") {
        if (Math.abs(at.x - start.x) < DRAG_PX) return;
        if (beside !== null) kind = "hold";
        else kind = gestures().marks(start.x, start.y) ? "mark" : "move";
      }
      if (kind === "hold") gestures().hold(at.x - (beside ?? 0));
      else if (kind === "mark") gestures().mark({ from: start.x, to: at.x, y: start.y }, false);
      else gestures().move(at.x - before);
      pointers.set(event.pointerId, at.x);
    },
    options,
  );
  const end = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0 || !start) return;
    const at = place(event);
    const given = event.type === "pointerup";
    if (kind === "mark") gestures().mark(given ? { from: start.x, to: at.x, y: start.y } : null, true);
    else if (kind === "hold") gestures().hold(null);
    else if (kind === "press" && given) gestures().press(start.x, start.y);
    start = null;
  };
  element.addEventListener("pointerup", end, options);
  element.addEventListener("pointercancel", end, options);
  return () => ends.abort();
}
