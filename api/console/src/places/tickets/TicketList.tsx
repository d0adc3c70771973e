import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Dialog } from "../../parts/Dialog";
import { Empty } from "../../parts/Empty";
import { Check } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go, location } from "../../router";
import { keepForUser, readForUser } from "../../state/userStorage";
import type { Desk } from "./company";
import { DeskFrame } from "./DeskFrame";
import { addressOf, filtersOf, NO_FILTERS, requestOf, setIn, type TicketFilters } from "./filters";
import { TicketFilter } from "./TicketFilter";
import { COLUMNS, type ColumnName, USUAL_COLUMNS } from "./TicketRow";
import { TicketRows } from "./TicketRows";
import { useTicketList } from "./useTicketList";

const COLUMNS_KEY = "tickets.columns";

/** All tickets of a company, by filters of the address. */
export default function TicketList() {
  return <DeskFrame tab="list">{(desk) => <List key={desk.company.id} desk={desk} />}</DeskFrame>;
}

function List({ desk }: { desk: Desk }) {
  const filters = filtersOf(location.value.query);
  const companyId = desk.company.id;
  const key = addressOf(filters);
  const list = useTicketList(companyId, key, () => requestOf(filters, companyId, Date.now()));
  const [columns, setColumns] = useState(readColumns);
  const [choosing, setChoosing] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  useKeys("anywhere", { search: () => search.current?.focus() });
  const finds = location.value.query.get("find") !== null;
  useEffect(() => {
    if (!finds) return;
    search.current?.focus();
    go(addressOf(filters), { replace: true });
  }, [finds]);
  return (
    <>
      <TicketFilter desk={desk} filters={filters} search={search} onColumns={() => setChoosing(true)} />
      {list.problem !== null && <Problem problem={list.problem} onRetry={list.reload} />}
      {!list.rows && list.problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {list.rows?.length === 0 && <Nothing filters={filters} />}
      {list.rows && list.rows.length > 0 && (
        <>
          <TicketRows
            desk={desk}
            label={t("tickets.list")}
            rows={list.rows}
            columns={columns}
            selects
            onEnd={list.readMore}
            onDone={list.replace}
          />
          <p class="desk-count" role="status">
            {t("tickets.listed", { count: list.total })}
          </p>
        </>
      )}
      {choosing && (
        <Dialog title={t("tickets.columns")} onClose={() => setChoosing(false)}>
          {COLUMNS.map((column) => (
            <Check
              key={column}
              label={t(`tickets.column.${column}`)}
              checked={columns.includes(column)}
              onChange={(checked) => {
                const next = COLUMNS.filter((each) => (each === column ? checked : columns.includes(each)));
                setColumns(next);
                keepForUser(COLUMNS_KEY, next);
              }}
            />
          ))}
        </Dialog>
      )}
    </>
  );
}

function Nothing({ filters }: { filters: TicketFilters }) {
  const isFiltered = setIn(filters) > 0 || filters.keyword !== "";
  return (
    <Empty icon="ticket" title={t(isFiltered ? "tickets.noneFound" : "tickets.none")}>
      {isFiltered && (
        <button type="button" onClick={() => go(addressOf({ ...NO_FILTERS, companyId: filters.companyId }))}>
          <Icon name="close" size={16} />
          {t("event.clear")}
        </button>
      )}
    </Empty>
  );
}

function readColumns(): readonly ColumnName[] {
  const kept = readForUser(COLUMNS_KEY);
  return Array.isArray(kept) ? COLUMNS.filter((column) => kept.includes(column)) : USUAL_COLUMNS;
}
