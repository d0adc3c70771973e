import { useRef } from "preact/hooks";
import { t } from "../../i18n/translate";
import { type ListSize, listSize, setListSize } from "./listSize";

const SIZES: readonly ListSize[] = ["folded", "open", "wide"];
/** A finger that moves less than this taps. */
const TAP_PX = 6;
/** The parts of the room from which on a sheet that is let go becomes `open` or `wide`. */
const OPENS = 0.3;
const WIDENS = 0.75;

interface Drag {
  from: number;
  height: number;
  moved: boolean;
}

/** On phones: the upper edge of what lies below the map, to drag or to tap from one height to the next. */
export function SheetHandle() {
  const drag = useRef<Drag | null>(null);
  const index = SIZES.indexOf(listSize.value);
  const next = SIZES[(index + 1) % SIZES.length] ?? "open";

  function step(by: number) {
    setListSize(SIZES[Math.max(0, Math.min(SIZES.length - 1, index + by))] ?? "open");
  }
  function pull(event: PointerEvent, handle: HTMLElement) {
    const sheet = handle.closest<HTMLElement>(".fleet");
    if (!drag.current || !sheet) return;
    const by = drag.current.from - event.clientY;
    if (Math.abs(by) < TAP_PX && !drag.current.moved) return;
    drag.current.moved = true;
    const most = sheet.clientHeight - handle.clientHeight;
    const height = Math.max(0, Math.min(most, drag.current.height + by));
    sheet.style.setProperty("--sheet", `${height}px`);
  }
  function letGo(handle: HTMLElement) {
    const sheet = handle.closest<HTMLElement>(".fleet");
    if (!drag.current?.moved || !sheet) return;
    const part = heightBelow(handle, sheet) / sheet.clientHeight;
    sheet.style.removeProperty("--sheet");
    setListSize(part < OPENS ? "folded" : part < WIDENS ? "open" : "wide");
  }

  return (
    <button
      type="button"
      class="sheet-handle"
      aria-label={t(`fleet.sheet.${next}`)}
      onPointerDown={(event) => {
        const handle = event.currentTarget;
        const sheet = handle.closest<HTMLElement>(".fleet");
        if (!sheet) return;
        drag.current = { from: event.clientY, height: heightBelow(handle, sheet), moved: false };
        handle.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => pull(event, event.currentTarget)}
      onLostPointerCapture={(event) => letGo(event.currentTarget)}
      onClick={() => {
        const wasDragged = drag.current?.moved;
        drag.current = null;
        if (!wasDragged) setListSize(next);
      }}
      onKeyDown={(event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        step(by);
      }}
    >
      <span />
    </button>
  );
}

function heightBelow(handle: HTMLElement, sheet: HTMLElement): number {
  return sheet.getBoundingClientRect().bottom - handle.getBoundingClientRect().bottom;
}
