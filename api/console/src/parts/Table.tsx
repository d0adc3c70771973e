import type { TargetedFocusEvent, TargetedKeyboardEvent, TargetedMouseEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { isInView, rowsInView } from "./Rows";
import { TableLine } from "./TableLine";
import "./table.css";
import {
  type Column,
  type Grouping,
  type Item,
  itemsOf,
  keysBetween,
  nextSort,
  type RowKey,
  type Sort,
  sorted,
  toggled,
} from "./tableItems";
import { hasTouch } from "./touch";
import { MOST_PRINTED, usePrinting } from "./usePrinting";

export type { Column, Grouping, RowKey, Sort } from "./tableItems";

/** Pixels; all lines have the same height, as has the head. */
const LINE = hasTouch ? 45 : 36;
const WIDTH = 8;

/** The roles of a grid, which HTML's own tables have no need for. */
const rowAt = (index: number) => ({ role: "row", "aria-rowindex": index }) as const;
const ROWS = { role: "rowgroup" } as const;
const HEAD = { role: "columnheader" } as const;
const CELL = { role: "gridcell" } as const;

interface TableProps<T> {
  label: string;
  /** The columns that are shown; the first one stays where it is when the others are scrolled sideways. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => RowKey;
  /** How it is sorted, at first; with `onSort` always. */
  sort?: Sort | null;
  onSort?: (sort: Sort) => void;
  /** Headings with sums above the rows that belong together. */
  grouping?: Grouping<T>;
  /** A foot with the sums of all rows, where columns have any. */
  foot?: boolean;
  /** With both, rows can be selected. */
  selected?: ReadonlySet<RowKey>;
  onSelect?: (selected: ReadonlySet<RowKey>) => void;
  /** A row was pressed, or `Enter` in it. */
  onOpen?: (row: T) => void;
  /** What a dragged row means is put into `event.dataTransfer`; without it rows are not dragged. */
  onDragStart?: (row: T, event: DragEvent) => void;
  onContextMenu?: (row: T, at: { x: number; y: number }) => void;
  /** A class of a row. */
  classOf?: (row: T) => string;
}

/**
 * A table of many rows, of which only those in view are drawn (the pattern of a grid, or of a treegrid with groups:
 * https://www.w3.org/WAI/ARIA/apg/patterns/grid/). Its box has the focus, arrows move through the rows, `Space` selects,
 * `Shift` extends, `Ctrl+A` selects all, and `Enter` opens.
 */
export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, keyOf, grouping, foot, selected, onSelect, onOpen } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [ownSort, setOwnSort] = useState(props.sort);
  const sort = props.onSort ? props.sort : ownSort;
  const [closed, setClosed] = useState<ReadonlySet<RowKey>>(new Set());
  const items = useMemo(
    () => itemsOf(rows, keyOf, grouping, (some) => sorted(some, columns, sort), closed),
    [rows, grouping, columns, sort?.key, sort?.descending, closed],
  );
  const [current, setCurrent] = useState<{ key: RowKey; kind: Item<T>["kind"] } | null>(null);
  const at = current ? items.findIndex(({ key, kind }) => key === current.key && kind === current.kind) : -1;
  /** Where a range begins that `Shift` extends. */
  const anchor = useRef<RowKey | null>(null);
  const isPicking = selected !== undefined && onSelect !== undefined;
  const hasFoot = Boolean(foot) && rows.length > 0 && columns.some(({ sum }) => sum);
  const around = LINE * (hasFoot ? 2 : 1);
  const isPrinted = usePrinting();
  const [first, end] = useView(box, around, items.length, isPrinted);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && current) keepInView(element, at, around);
  }, [current]);

  function move(to: number, extend: boolean): void {
    const index = Math.max(0, Math.min(items.length - 1, to));
    const item = items[index];
    if (!item) return;
    setCurrent({ key: item.key, kind: item.kind });
    if (extend) extendTo(index);
    else anchor.current = item.key;
  }

  function extendTo(index: number): void {
    if (!isPicking) return;
    const from = items.findIndex(({ kind, key }) => kind === "row" && key === anchor.current);
    onSelect(new Set([...selected, ...keysBetween(items, from < 0 ? index : from, index)]));
  }

  function toggle(item: Item<T>): void {
    if (item.kind === "group" && !isPicking) fold(item.key);
    if (!isPicking) return;
    onSelect(toggled(selected, item.kind === "row" ? [item.key] : item.rows.map(keyOf)));
    anchor.current = item.key;
  }

  function fold(key: RowKey, isOpen = !closed.has(key)): void {
    const next = new Set(closed);
    if (isOpen) next.add(key);
    else next.delete(key);
    setClosed(next);
  }

  function press(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    if (event.target !== event.currentTarget || event.altKey) return;
    const page = Math.max(1, Math.floor((event.currentTarget.clientHeight - around) / LINE) - 1);
    const item = items[at];
    const name = event.ctrlKey || event.metaKey ? `Ctrl+${event.key.toLowerCase()}` : event.key;
    const acts: Record<string, () => void> = {
      ArrowDown: () => move(at + 1, event.shiftKey),
      ArrowUp: () => move(at < 0 ? items.length - 1 : at - 1, event.shiftKey),
      PageDown: () => move(at + page, event.shiftKey),
      PageUp: () => move(at - page, event.shiftKey),
      Home: () => move(0, event.shiftKey),
      End: () => move(items.length - 1, event.shiftKey),
      Enter: () => {
        if (item?.kind === "group") fold(item.key);
        else if (item) onOpen?.(item.row);
      },
      " ": () => item && toggle(item),
      "Ctrl+a": () => isPicking && onSelect(new Set(rows.map(keyOf))),
    };
    if (item?.kind === "group") {
      acts.ArrowLeft = () => fold(item.key, true);
      acts.ArrowRight = () => fold(item.key, false);
    }
    const act = acts[name];
    if (!act) return;
    event.preventDefault();
    act();
  }

  function pressed(event: TargetedMouseEvent<HTMLDivElement>): void {
    const index = indexOf(event.target);
    const item = items[index];
    if (!item || !(event.target instanceof Element)) return;
    const isBox = event.target.closest(".table-check") !== null;
    if (!isBox && event.target.closest("a, button, input, select")) return;
    setCurrent({ key: item.key, kind: item.kind });
    // The keys go on from where the pointer was.
    box.current?.focus({ preventScroll: true });
    if (event.shiftKey && isPicking) extendTo(index);
    else if (isPicking && (isBox || event.ctrlKey || event.metaKey)) toggle(item);
    else if (item.kind === "group") fold(item.key);
    else {
      anchor.current = item.key;
      onOpen?.(item.row);
    }
  }

  const rowOf = (target: EventTarget | null) => {
    const item = items[indexOf(target)];
    return item?.kind === "row" ? item.row : undefined;
  };
  const grid = {
    role: grouping ? "treegrid" : "grid",
    "aria-label": label,
    "aria-rowcount": items.length + (hasFoot ? 2 : 1),
    "aria-colcount": columns.length + (isPicking ? 1 : 0),
    "aria-multiselectable": isPicking || undefined,
    "aria-activedescendant": at >= first && at < end ? `${id}-${at}` : undefined,
    tabIndex: 0,
    onKeyDown: press,
    onFocus: (event: TargetedFocusEvent<HTMLDivElement>) => {
      const { target, currentTarget } = event;
      if (target === currentTarget && at < 0 && currentTarget.matches(":focus-visible")) move(first, false);
    },
  } as const;
  const shared = { columns, isPicking, grouping, height: LINE };
  return (
    <div ref={box} class={`table ${isPicking ? "picking" : ""} ${onOpen ? "opens" : ""}`} {...grid}>
      <div class="table-inner" style={widthsOf(columns, isPicking)}>
        <div class="table-head" {...rowAt(1)} style={{ height: `${LINE}px` }}>
          {isPicking && (
            <span {...HEAD} class="table-check">
              <AllBox
                isAll={rows.length > 0 && rows.every((row) => selected.has(keyOf(row)))}
                isAny={selected.size > 0}
                onChange={(all) => onSelect(all ? new Set(rows.map(keyOf)) : new Set())}
              />
            </span>
          )}
          {columns.map((column) => (
            <Head
              key={column.key}
              column={column}
              sort={sort}
              onSort={() => {
                const next = nextSort(sort, column.key);
                setOwnSort(next);
                props.onSort?.(next);
              }}
            />
          ))}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the box takes the keys */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box takes the keys */}
        <div
          class="table-body"
          style={{ height: `${items.length * LINE}px` }}
          onClick={pressed}
          onMouseDown={(event) => {
            // A range of rows is no range of text.
            if (isPicking && event.shiftKey) event.preventDefault();
          }}
          onContextMenu={(event) => {
            const row = rowOf(event.target);
            if (row === undefined || !props.onContextMenu) return;
            event.preventDefault();
            props.onContextMenu(row, { x: event.clientX, y: event.clientY });
          }}
          onDragStart={(event) => {
            const row = rowOf(event.target);
            if (row !== undefined) props.onDragStart?.(row, event);
          }}
        >
          <div class="table-lines" style={{ top: `${first * LINE}px` }} {...ROWS}>
            {items.slice(first, end).map((item, offset) => (
              <TableLine
                key={`${item.kind} ${item.key}`}
                {...shared}
                id={`${id}-${first + offset}`}
                index={first + offset}
                item={item}
                isCurrent={first + offset === at}
                isSelected={isPicking && (item.kind === "row" ? selected.has(item.key) : false)}
                isDragged={props.onDragStart !== undefined && item.kind === "row"}
                kind={item.kind === "row" ? (props.classOf?.(item.row) ?? "") : "table-group"}
              />
            ))}
          </div>
        </div>
        {hasFoot && (
          <div class="table-foot" {...rowAt(items.length + 2)} style={{ height: `${LINE}px` }}>
            {isPicking && <span {...CELL} class="table-check" />}
            {columns.map((column, index) => (
              <span key={column.key} {...CELL} class={column.numeric ? "numeric" : ""}>
                {column.sum?.(rows) ?? (index === 0 ? t("table.total", { count: rows.length }) : null)}
              </span>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

interface HeadProps<T> {
  column: Column<T>;
  sort: Sort | null | undefined;
  onSort: () => void;
}

function Head<T>({ column, sort, onSort }: HeadProps<T>) {
  const kind = column.numeric ? "numeric" : "";
  if (column.sortable === false)
    return (
      <span {...HEAD} class={kind}>
        {column.label}
      </span>
    );
  const order = sort?.key !== column.key ? "none" : sort.descending ? "descending" : "ascending";
  return (
    <span {...{ ...HEAD, "aria-sort": order }} class={kind}>
      <button type="button" onClick={onSort} title={column.label}>
        <span>{column.label}</span>
        {order !== "none" && <span aria-hidden="true">{order === "descending" ? "↓" : "↑"}</span>}
      </button>
    </span>
  );
}

function AllBox(props: { isAll: boolean; isAny: boolean; onChange: (all: boolean) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = props.isAny && !props.isAll;
  });
  return (
    <label>
      <input
        ref={box}
        type="checkbox"
        aria-label={t("table.all")}
        checked={props.isAll}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
    </label>
  );
}

/** Which lines are drawn: those in view with a few around them. */
function useView(
  box: { current: HTMLDivElement | null },
  around: number,
  count: number,
  isPrinted: boolean,
): [number, number] {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // By whole lines: a smaller step draws nothing else.
    const read = () => setTop(Math.floor(element.scrollTop / LINE) * LINE);
    const observer = new ResizeObserver(() => {
      setHeight(element.clientHeight);
      read();
    });
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  if (isPrinted) return [0, Math.min(count, MOST_PRINTED)];
  return rowsInView(Math.min(top, count * LINE), height - around + LINE, LINE, count);
}

/** Scroll as little as brings a line out from under head and foot. */
function keepInView(element: HTMLElement, line: number, around: number): void {
  const height = element.clientHeight - around;
  const { scrollTop } = element;
  if (line < 0 || isInView(line, LINE, scrollTop, height)) return;
  element.scrollTop = line * LINE < scrollTop ? line * LINE : (line + 1) * LINE - height;
}

/** All lines have the same columns, whatever is in them. */
function widthsOf<T>(columns: readonly Column<T>[], isPicking: boolean): Record<string, string> {
  const widths = columns.map(({ width = WIDTH }, index) =>
    // On phones there is something beside the first column.
    index === 0 ? [`min(${width}rem, 42cqw)`, width] : [`${width}rem`, width],
  );
  const check = isPicking ? ["var(--table-check)"] : [];
  const all = [...check, ...widths.map(([least, share]) => `minmax(${least}, ${share}fr)`)];
  const least = [...check, ...widths.map(([width]) => width)];
  return { "--table-columns": all.join(" "), minWidth: `calc(${least.join(" + ")})` };
}

function indexOf(target: EventTarget | null): number {
  const line = target instanceof Element ? target.closest<HTMLElement>("[data-line]") : null;
  return line ? Number(line.dataset.line) : -1;
}
