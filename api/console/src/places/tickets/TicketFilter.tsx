import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { dayTime, timeRange } from "../../format/times";
import { t } from "../../i18n/translate";
import { Select } from "../../parts/Field";
import { FilterBar } from "../../parts/FilterBar";
import { Icon } from "../../parts/Icon";
import { type Pick, Picker } from "../../parts/Picker";
import { SearchField } from "../../parts/SearchField";
import { go } from "../../router";
import { style } from "../../state/session";
import { vehicleChoices } from "../../state/vehicleChoices";
import { now } from "../../time/clock";
import { type Desk, myId } from "./company";
import {
  addressOf,
  KINDS,
  REFERENCES,
  type Reference,
  SORTS,
  type Sort,
  setIn,
  type TicketFilters,
  toggled,
} from "./filters";
import { fieldName, valueName } from "./words";

/** A keyword is looked for when the typing rests. */
const REST_MS = 300;

interface TicketFilterProps {
  desk: Desk;
  filters: TicketFilters;
  search: RefObject<HTMLInputElement | null>;
  onColumns: () => void;
}

/** The search, and filters as chips: each stands in the address. */
export function TicketFilter({ desk, filters, search, onColumns }: TicketFilterProps) {
  const set = (change: Partial<TicketFilters>) => go(addressOf({ ...filters, ...change }));
  const offered = offers(desk);
  return (
    <FilterBar
      count={setIn(filters)}
      class="ticket-filter"
      lead={<Search key={desk.company.id} filters={filters} field={search} />}
    >
      <Picker
        label={t("tickets.addFilter")}
        items={offered}
        value={null}
        placeholder={t("tickets.addFilterHint")}
        onChange={(id) => {
          const [name, value] = String(id ?? "").split(" ");
          const reference = REFERENCES.find((each) => each === name);
          if (reference) go(addressOf(toggled(filters, reference, Number(value))));
          else if (name === "kind")
            set({ kinds: KINDS.filter((kind) => kind === value || filters.kinds.includes(kind)) });
          else if (name === "overdue" || name === "escalated") set({ [name]: true });
          else if (name === "dueWithin") set({ dueWithin: Number(value) });
        }}
      />
      <Select
        label={t("tickets.state")}
        value={filters.open === null ? "any" : String(filters.open)}
        choices={["true", "false", "any"].map((value) => ({
          value,
          label: t(`tickets.open.${value as "true" | "false" | "any"}`),
        }))}
        onChange={(value) => set({ open: value === "any" ? null : value === "true" })}
      />
      <Select
        label={t("tickets.sort")}
        value={filters.sort}
        choices={SORTS.map((value) => ({ value, label: t(`tickets.sort.${value}`) }))}
        onChange={(value) => set({ sort: value as Sort })}
      />
      <button type="button" class="quiet" onClick={onColumns}>
        <Icon name="settings" size={18} />
        {t("tickets.columns")}
      </button>
      <Chips desk={desk} filters={filters} set={set} />
    </FilterBar>
  );
}

function Search({ filters, field }: { filters: TicketFilters; field: RefObject<HTMLInputElement | null> }) {
  const [text, setText] = useState(filters.keyword);
  const find = () => {
    if (text !== filters.keyword) go(addressOf({ ...filters, keyword: text }), { replace: true });
  };
  useEffect(() => {
    const timer = setTimeout(find, REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // Who goes back in the history sees what was searched then.
  useEffect(() => setText(filters.keyword), [filters.keyword]);
  return (
    <SearchField
      field={field}
      label={t("tickets.search")}
      placeholder={t("tickets.search")}
      maxLength={128}
      value={text}
      onText={setText}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        // On to the rows, with what is found.
        find();
        event.currentTarget.blur();
      }}
    >
      <kbd>/</kbd>
    </SearchField>
  );
}

/** What can be filtered by, with names that say what it is. */
function offers(desk: Desk): readonly Pick[] {
  const rows = (
    name: Reference,
    of: readonly { id: number; name: string | null }[],
    note?: (id: number) => string,
  ) =>
    of.map(({ id, name: text }) => ({
      id: `${name} ${id}`,
      name: text ?? `#${id}`,
      note: note?.(id) ?? fieldName(name),
    }));
  const people = desk.people.map(({ id, name, email }) => ({ id, name: name || email }));
  const nobody = { id: 0, name: t("tickets.nobody") };
  const me = myId();
  return [
    { id: "overdue", name: t("tickets.count.overdue") },
    { id: "dueWithin 60", name: t("tickets.count.dueSoon") },
    { id: "escalated", name: t("tickets.escalated") },
    ...rows("assigneeId", [nobody, ...people], (id) =>
      id === me ? `${fieldName("assigneeId")} · ${t("tickets.me")}` : fieldName("assigneeId"),
    ),
    ...rows("statusId", desk.statuses),
    ...KINDS.map((kind) => ({ id: `kind ${kind}`, name: t(`ticket.${kind}`), note: t("tickets.kind") })),
    ...rows("priorityId", desk.priorities),
    ...rows("teamId", desk.teams),
    ...rows("categoryId", desk.categories),
    ...rows("reporterId", people),
    ...rows("deviceId", vehicleChoices()),
  ];
}

interface ChipsProps {
  desk: Desk;
  filters: TicketFilters;
  set: (change: Partial<TicketFilters>) => void;
}

function Chips({ desk, filters, set }: ChipsProps) {
  const chips: { key: string; text: string; remove: () => void }[] = [];
  for (const name of REFERENCES)
    for (const id of filters.references[name] ?? [])
      chips.push({
        key: `${name} ${id}`,
        text: `${fieldName(name)}: ${valueName(desk, name === "reporterId" ? "assigneeId" : name, id)}`,
        remove: () => go(addressOf(toggled(filters, name, id))),
      });
  for (const kind of filters.kinds)
    chips.push({
      key: kind,
      text: t(`ticket.${kind as "new"}`),
      remove: () => set({ kinds: filters.kinds.filter((each) => each !== kind) }),
    });
  if (filters.overdue)
    chips.push({ key: "overdue", text: t("tickets.count.overdue"), remove: () => set({ overdue: false }) });
  if (filters.escalated)
    chips.push({ key: "escalated", text: t("tickets.escalated"), remove: () => set({ escalated: false }) });
  if (filters.dueWithin)
    chips.push({
      key: "due",
      text:
        filters.dueWithin === 60
          ? t("tickets.count.dueSoon")
          : t("tickets.dueWithin", { count: filters.dueWithin }),
      remove: () => set({ dueWithin: 0 }),
    });
  if (filters.from || filters.to)
    chips.push({
      key: "created",
      text: t("tickets.createdIn", { span: spanText(filters) }),
      remove: () => set({ from: "", to: "" }),
    });
  for (const zone of filters.zones)
    chips.push({
      key: `zone ${zone}`,
      text: `${t("tickets.region")}: ${zone}`,
      remove: () => set({ zones: filters.zones.filter((each) => each !== zone) }),
    });
  if (!filters.includeChildren)
    chips.push({
      key: "children",
      text: t("tickets.withoutChildren"),
      remove: () => set({ includeChildren: true }),
    });
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label={t("tickets.filters")}>
      {chips.map(({ key, text, remove }) => (
        <li key={key}>
          <button
            type="button"
            class="chip"
            aria-label={t("tickets.withoutFilter", { filter: text })}
            onClick={remove}
          >
            {text}
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** When tickets were created: a span, or the end of one that has no other. */
function spanText({ from, to }: TicketFilters): string {
  const look = style.value;
  const [begin, end] = [from, to].map((text) => (text ? Date.parse(text) : null));
  if (begin != null && end != null) return timeRange(begin, end, now.peek(), look);
  return begin != null
    ? t("tickets.since", { at: dayTime(begin, look) })
    : t("tickets.before", { at: dayTime(end ?? 0, look) });
}
