import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MOST_PRINTED, usePrinting } from "./usePrinting";

/** Which rows lie in the window, with a few around them. */
export function rowsInView(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
  around = 6,
): [number, number] {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - around));
  return [first, Math.min(count, Math.ceil((top + height) / rowHeight) + around)];
}

/** Whether a row lies within the window as a whole; none has the index -1. */
export function isInView(row: number, rowHeight: number, top: number, height: number): boolean {
  return row >= 0 && row * rowHeight >= top && (row + 1) * rowHeight <= top + height;
}

/** Scroll as little as brings a row into view. */
function keepInView(element: HTMLElement, row: number, rowHeight: number): void {
  const { scrollTop, clientHeight } = element;
  if (row < 0 || isInView(row, rowHeight, scrollTop, clientHeight)) return;
  const top = row * rowHeight;
  element.scrollTop = top < scrollTop ? top : top + rowHeight - clientHeight;
}

interface RowsProps {
  count: number;
  /** Pixels; all rows have the same height. */
  rowHeight: number;
  /** A row at its index; its key. */
  render: (index: number) => ComponentChildren;
  keyOf: (index: number) => string | number;
  label: string;
  /** Keep this row in view when it changes. */
  current?: number;
  /** Called when the last row comes near, and again when there are more. */
  onEnd?: () => void;
  role?: "list" | "listbox";
  class?: string;
}

/** Rows of equal height; only the rows in view are drawn. */
export function Rows({
  count,
  rowHeight,
  render,
  keyOf,
  label,
  current = -1,
  onEnd,
  role = "list",
  ...rest
}: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const kept = useRef({ row: -1, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // By whole rows: a smaller step draws nothing else.
    const read = () => {
      const [top, height] = [Math.floor(element.scrollTop / rowHeight) * rowHeight, element.clientHeight];
      setView((before) => (before.top === top && before.height === height ? before : { top, height }));
    };
    const observer = new ResizeObserver(() => {
      const { row, height } = kept.current;
      // Unless the reader has scrolled away from it.
      if (isInView(row, rowHeight, element.scrollTop, height)) keepInView(element, row, rowHeight);
      kept.current.height = element.clientHeight;
      read();
    });
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, [rowHeight]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    kept.current = { row: current, height: element.clientHeight };
    keepInView(element, current, rowHeight);
  }, [current, rowHeight]);
  const isPrinted = usePrinting();
  const [first, end] = isPrinted
    ? [0, Math.min(count, MOST_PRINTED)]
    : rowsInView(view.top, view.height, rowHeight, count);
  const isAtEnd = count > 0 && end === count && !isPrinted;
  const reached = useRef(onEnd);
  reached.current = onEnd;
  useEffect(() => {
    if (isAtEnd) reached.current?.();
  }, [isAtEnd, count]);
  const list = { role, "aria-label": label };
  return (
    <div ref={box} class={`rows ${rest.class ?? ""}`}>
      <div {...list} class="rows-inner" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, offset) => {
          const index = first + offset;
          return (
            <div
              key={keyOf(index)}
              {...(role === "list" && {
                role: "listitem",
                "aria-setsize": count,
                "aria-posinset": index + 1,
              })}
              class="rows-row"
              style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
            >
              {render(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
