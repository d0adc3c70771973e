import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

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

/** Rows of one height, of which only those in view are drawn. */
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
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const read = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || current < 0) return;
    const top = current * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }, [current, rowHeight]);
  const [first, end] = rowsInView(view.top, view.height, rowHeight, count);
  const isAtEnd = count > 0 && end === count;
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
