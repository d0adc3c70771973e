import type { ComponentChildren } from "preact";
import { Rows } from "./Rows";

export interface Column<T> {
  key: string;
  label: string;
  /** A width as CSS grids have it: `8rem`, `1fr`. */
  width: string;
  cell: (row: T) => ComponentChildren;
  numeric?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string | number;
  rowHeight?: number;
  sorted?: { key: string; descending: boolean };
  /** Called with the key of the column whose head was pressed; without it nothing sorts. */
  onSort?: (key: string) => void;
  onOpen?: (row: T) => void;
}

/** A table of many rows; only the rows in view are drawn. */
export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  rowHeight = 36,
  sorted,
  onSort,
  onOpen,
}: TableProps<T>) {
  const grid = { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
  const at = (index: number) => rows[index] as T;
  return (
    <div class="table">
      <div class="table-head" style={grid}>
        {columns.map((column) => (
          <Head key={column.key} column={column} sorted={sorted} onSort={onSort} />
        ))}
      </div>
      <Rows
        label={label}
        count={rows.length}
        rowHeight={rowHeight}
        keyOf={(index) => keyOf(at(index))}
        render={(index) => {
          const row = at(index);
          const cells = columns.map((column) => (
            <span key={column.key} class={column.numeric ? "numeric" : ""}>
              {column.cell(row)}
            </span>
          ));
          if (!onOpen) {
            return (
              <div class="table-row" style={grid}>
                {cells}
              </div>
            );
          }
          return (
            <button type="button" class="table-row" style={grid} onClick={() => onOpen(row)}>
              {cells}
            </button>
          );
        }}
      />
    </div>
  );
}

interface HeadProps<T> {
  column: Column<T>;
  sorted: { key: string; descending: boolean } | undefined;
  onSort: ((key: string) => void) | undefined;
}

function Head<T>({ column, sorted, onSort }: HeadProps<T>) {
  const mark = sorted?.key === column.key ? (sorted.descending ? " ↓" : " ↑") : "";
  const kind = column.numeric ? "numeric" : "";
  if (!onSort) return <span class={kind}>{column.label}</span>;
  return (
    <button type="button" class={kind} onClick={() => onSort(column.key)}>
      {column.label}
      {mark}
    </button>
  );
}
