/** What a table shows of its rows: sorted, in groups, with the keys of what is selected. */

import type { ComponentChildren } from "preact";
import { compareNames } from "../i18n/translate";

export type RowKey = string | number;
/** What a column is sorted by; what has no value comes last. */
export type Value = string | number | boolean | null | undefined;

export interface Column<T> {
  key: string;
  label: string;
  /** The value of a row; the cell shows it unless there is `cell`. */
  value: (row: T) => Value;
  cell?: (row: T) => ComponentChildren;
  /** The least width in `rem`, by which columns share what is left too. */
  width?: number;
  /** Numbers stand at the right. */
  numeric?: boolean;
  /** False where an order by this column says nothing. */
  sortable?: boolean;
  /** What the heading of a group and the foot of the table say of their rows. */
  sum?: (rows: readonly T[]) => ComponentChildren;
}

export interface Sort {
  key: string;
  descending: boolean;
}

/** Groups stand in the order in which their rows are given, whatever the rows are sorted by. */
export interface Grouping<T> {
  of: (row: T) => RowKey;
  label: (key: RowKey, rows: readonly T[]) => ComponentChildren;
}

export type Item<T> =
  | { kind: "row"; key: RowKey; row: T }
  | { kind: "group"; key: RowKey; rows: readonly T[]; isOpen: boolean };

/** Rows in the order of a column; rows that are equal in it keep their order. */
export function sorted<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sort: Sort | null | undefined,
): readonly T[] {
  const column = sort && columns.find((each) => each.key === sort.key);
  if (!column) return rows;
  const direction = sort.descending ? -1 : 1;
  const valued = rows.map((row) => ({ row, value: column.value(row) ?? null }));
  valued.sort((one, other) => {
    if (isNothing(one.value) || isNothing(other.value))
      return Number(isNothing(one.value)) - Number(isNothing(other.value));
    return direction * compareValues(one.value, other.value);
  });
  return valued.map(({ row }) => row);
}

/** The column that was pressed, upwards at first, then downwards. */
export function nextSort(sort: Sort | null | undefined, key: string): Sort {
  return { key, descending: sort?.key === key && !sort.descending };
}

/** The lines of a table: its rows, below the headings of their groups where there are any. */
export function itemsOf<T>(
  rows: readonly T[],
  keyOf: (row: T) => RowKey,
  grouping: Grouping<T> | undefined,
  order: (rows: readonly T[]) => readonly T[],
  closed: ReadonlySet<RowKey>,
): readonly Item<T>[] {
  const lines = (some: readonly T[]) =>
    order(some).map((row): Item<T> => ({ kind: "row", key: keyOf(row), row }));
  if (!grouping) return lines(rows);
  const groups = new Map<RowKey, T[]>();
  for (const row of rows) {
    const key = grouping.of(row);
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return [...groups].flatMap(([key, some]) => {
    const isOpen = !closed.has(key);
    return [{ kind: "group", key, rows: some, isOpen } as const, ...(isOpen ? lines(some) : [])];
  });
}

/** The keys of the rows between two lines, in either order, both included. */
export function keysBetween<T>(items: readonly Item<T>[], one: number, other: number): RowKey[] {
  return items
    .slice(Math.min(one, other), Math.max(one, other) + 1)
    .filter((item) => item.kind === "row")
    .map((item) => item.key);
}

/** The set with a key more or less. */
export function toggled(selected: ReadonlySet<RowKey>, keys: readonly RowKey[]): ReadonlySet<RowKey> {
  const next = new Set(selected);
  const isOn = keys.every((key) => next.has(key));
  for (const key of keys) {
    if (isOn) next.delete(key);
    else next.add(key);
  }
  return next;
}

function isNothing(value: Value): boolean {
  return value === null || value === undefined || value === "" || Number.isNaN(value);
}

function compareValues(one: Value, other: Value): number {
  if (typeof one === "string" || typeof other === "string") return compareNames(String(one), String(other));
  return Number(one) - Number(other);
}
