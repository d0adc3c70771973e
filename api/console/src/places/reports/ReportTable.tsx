import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { t } from "../../i18n/translate";
import { ChooseColumns } from "../../parts/ChooseColumns";
import { sentenceOf } from "../../parts/Problem";
import { type Grouping, type Sort, Table, type Column as TableColumn } from "../../parts/Table";
import { toast } from "../../parts/Toast";
import { style } from "../../state/session";
import { useShownColumns } from "../../state/shownColumns";
import { now } from "../../time/clock";
import { resolveSpan } from "../../time/spans";
import { cellText, type Form, isNumeric } from "./cells";
import type { Item, Kind, Names } from "./kinds";
import type { Asked } from "./query";
import { groupKey, type Row } from "./rows";
import { groupName } from "./words";

interface ReportTableProps {
  kind: Kind<Item>;
  asked: Asked;
  names: Names;
  rows: readonly Row[];
  /** What the table was asked for: where it was scrolled to is known by it. */
  address: string;
  chosen: number | null;
  onSort: (sort: Sort) => void;
  onOpen: (row: Row) => void;
}

/** Least widths in `rem`. */
const WIDTHS: Partial<Record<Form, number>> = { text: 10, time: 12, day: 10 };
const WIDTH = 7;
const SHORT_TIME = 8;
/** Times of shorter spans need no year. */
const SHORT_MS = 300 * 86_400_000;

/** Where tables were scrolled to, by what they were asked for. */
const scrolled = new Map<string, number>();
const MOST_SCROLLED = 50;

/** The rows of a report with their sums, which lead to where they come from. */
export function ReportTable(props: ReportTableProps) {
  const { kind, asked, names, rows, address, chosen } = props;
  const look = style.value;
  const span = resolveSpan(asked.span, now.peek(), look.zone);
  const isShort = span !== null && span.to - span.from < SHORT_MS;
  const all = useMemo(
    () =>
      kind.columns.map(
        (column): TableColumn<Row> => ({
          key: column.key,
          label: t(column.label),
          value: ({ item }) => column.of(item, names),
          cell: ({ item }) => {
            const text = cellText(column.form, column.of(item, names), look, isShort);
            // On paper long texts are broken, and times are not.
            return column.form === "text" ? text : text.replaceAll(" ", "\u00a0");
          },
          width: column.form === "time" && isShort ? SHORT_TIME : (WIDTHS[column.form] ?? WIDTH),
          numeric: isNumeric(column.form),
          ...(column.total && {
            sum: (some: readonly Row[]) =>
              cellText(column.form, column.total?.(some.map(({ item }) => item)), look),
          }),
        }),
      ),
    [kind, names, look, isShort],
  );
  const standard = useMemo(() => kind.columns.filter(({ hidden }) => !hidden).map(({ key }) => key), [kind]);
  const { shown, keys, show } = useShownColumns(`report.${kind.name}`, all, standard, (problem) =>
    toast(sentenceOf(problem), "bad"),
  );
  const { group } = asked;
  const ordered = useMemo(() => {
    if (!group) return rows;
    const key = groupKey(kind, group, look.zone);
    // Groups stand in the order of their first rows.
    if (group !== "day") return rows;
    return [...rows].sort((one, other) => Number(key(one)) - Number(key(other)));
  }, [rows, group, look.zone]);
  const grouping = useMemo(
    (): Grouping<Row> | undefined =>
      group
        ? { of: groupKey(kind, group, look.zone), label: (key) => groupName(group, key, look) }
        : undefined,
    [kind, group, look],
  );
  const box = useRef<HTMLDivElement>(null);
  useKeptScroll(box, address, rows.length);
  return (
    <section class="report-rows" aria-label={t("report.rowsOf")}>
      <div class="report-tools">
        <span class="faint">{t("report.count", { count: rows.length })}</span>
        <ChooseColumns columns={all} shown={keys} onShown={show} />
      </div>
      <div class="report-table" ref={box}>
        <Table
          label={t(`report.kind.${kind.name}`)}
          columns={shown}
          rows={ordered}
          keyOf={({ index }) => index}
          sort={asked.sort}
          onSort={props.onSort}
          {...(grouping && { grouping })}
          foot
          onOpen={props.onOpen}
          classOf={({ index }) => (index === chosen ? "chosen" : "")}
        />
      </div>
    </section>
  );
}

/** Scroll to where the same table was left, once it has its rows. */
function useKeptScroll(box: { current: HTMLDivElement | null }, address: string, rows: number): void {
  const restored = useRef("");
  useLayoutEffect(() => {
    const table = box.current?.querySelector<HTMLElement>(".table");
    if (!table || restored.current === address || rows === 0) return;
    const wanted = scrolled.get(address) ?? 0;
    if (table.scrollHeight - table.clientHeight < wanted) return;
    restored.current = address;
    table.scrollTop = wanted;
  });
  useEffect(() => {
    const table = box.current?.querySelector<HTMLElement>(".table");
    if (!table) return undefined;
    const note = () => {
      if (restored.current !== address) return;
      scrolled.delete(address);
      scrolled.set(address, table.scrollTop);
      if (scrolled.size > MOST_SCROLLED) scrolled.delete(scrolled.keys().next().value ?? "");
    };
    table.addEventListener("scroll", note, { passive: true });
    return () => table.removeEventListener("scroll", note);
  }, [address]);
}
