import { t } from "../i18n/translate";
import { Icon } from "./Icon";
import type { Column, Grouping, Item } from "./tableItems";

const CELL = { role: "gridcell" } as const;
const HEADER = { role: "rowheader" } as const;

interface TableLineProps<T> {
  id: string;
  index: number;
  item: Item<T>;
  columns: readonly Column<T>[];
  grouping: Grouping<T> | undefined;
  height: number;
  isPicking: boolean;
  isSelected: boolean;
  isCurrent: boolean;
  isDragged: boolean;
  kind: string;
}

/** A row of a table, or the heading of a group. What is pressed in it is the table's affair. */
export function TableLine<T>(props: TableLineProps<T>) {
  const { item, columns, grouping, isPicking } = props;
  const row = {
    id: props.id,
    role: "row",
    "aria-rowindex": props.index + 2,
    "data-line": props.index,
    style: { height: `${props.height}px` },
    class: `table-row ${props.kind} ${props.isCurrent ? "current" : ""} ${props.isSelected ? "selected" : ""}`,
  } as const;
  if (item.kind === "group") {
    return (
      <div {...row} {...{ "aria-expanded": item.isOpen, "aria-level": 1 }}>
        {isPicking && <span {...CELL} class="table-check" />}
        {columns.map((column, index) => (
          <span
            key={column.key}
            {...(index === 0 ? HEADER : CELL)}
            class={column.numeric && index > 0 ? "numeric" : ""}
          >
            {index === 0 ? (
              <>
                <Icon name={item.isOpen ? "down" : "next"} size={14} />
                {grouping?.label(item.key, item.rows)}
              </>
            ) : (
              column.sum?.(item.rows)
            )}
          </span>
        ))}
      </div>
    );
  }
  return (
    <div
      {...row}
      draggable={props.isDragged || undefined}
      {...(grouping && { "aria-level": 2 })}
      {...(isPicking && { "aria-selected": props.isSelected })}
    >
      {isPicking && (
        <span {...CELL} class="table-check">
          <input type="checkbox" tabIndex={-1} aria-label={t("table.select")} checked={props.isSelected} />
        </span>
      )}
      {columns.map((column, index) => (
        <span key={column.key} {...(index === 0 ? HEADER : CELL)} class={column.numeric ? "numeric" : ""}>
          {column.cell ? column.cell(item.row) : column.value(item.row)}
        </span>
      ))}
    </div>
  );
}
