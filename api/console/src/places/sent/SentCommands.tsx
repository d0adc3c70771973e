import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { FilterBar } from "../../parts/FilterBar";
import { Skeleton } from "../../parts/Late";
import { Picker } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { go, location } from "../../router";
import { session } from "../../state/session";
import { VehiclePicker } from "../fleet/VehiclePicker";
import { CommandTabs } from "./CommandTabs";
import { LoggedCommands, personOf } from "./LoggedCommands";
import { addressOf, type Filters, filtersOf, SPANS, STATES } from "./log";
import { type CommandLog, useCommandLog } from "./useCommandLog";
import "./sent.css";

/** Rows of a page. */
const PAGE = 60;

/** The log of commands over all vehicles, live. */
export default function SentCommands() {
  const { query } = location.value;
  const filters = filtersOf(query);
  const key = addressOf(filters);
  const log = useCommandLog(key, filters, PAGE);
  const isFiltered = countOf(filters) > 0;
  return (
    <div class="page sent">
      <CommandTabs chosen="sent" title={t("sent.title")} />
      <Filter filters={filters} log={log} />
      {log.problem !== null && <Problem problem={log.problem} onRetry={log.reload} />}
      {!log.items && log.problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {log.items?.length === 0 && (
        <Empty
          icon="command"
          title={t(isFiltered ? "sent.noneFound" : "sent.empty")}
          text={t(isFiltered ? "sent.noneFoundText" : "sent.emptyText")}
        >
          {isFiltered && (
            <button type="button" onClick={() => go("/commands")}>
              {t("library.clear")}
            </button>
          )}
        </Empty>
      )}
      {log.items && log.items.length > 0 && (
        <section class="card" aria-live="polite">
          <LoggedCommands items={log.items} vehicles label={t("sent.title")} />
        </section>
      )}
      {log.more && (
        <button type="button" disabled={log.busy} onClick={log.readMore}>
          {t(log.busy ? "common.loading" : "library.more")}
        </button>
      )}
    </div>
  );
}

/** Vehicle, user, states and span; all of it stands in the address. */
function Filter({ filters, log }: { filters: Filters; log: CommandLog }) {
  const set = (change: Partial<Filters>) => go(addressOf({ ...filters, ...change }));
  return (
    <search>
      <FilterBar count={countOf(filters)} class="sent-filter">
        <VehiclePicker
          label={t("library.vehicle")}
          value={filters.deviceId}
          noneLabel={t("library.allVehicles")}
          onChange={(deviceId) => set({ deviceId })}
        />
        <Picker
          label={t("sent.user")}
          items={people(filters, log)}
          value={filters.userId}
          noneLabel={t("sent.everybody")}
          onChange={(id) => set({ userId: id === null ? null : Number(id) })}
        />
        <fieldset class="chips" aria-label={t("sent.states")}>
          {STATES.map((state) => {
            const chosen = filters.states.includes(state);
            const others = filters.states.filter((each) => each !== state);
            return (
              <Chip
                key={state}
                chosen={chosen}
                onClick={() => set({ states: chosen ? others : [...others, state] })}
              >
                {t(`sent.state.${state}`)}
              </Chip>
            );
          })}
        </fieldset>
        <fieldset class="chips" aria-label={t("library.span")}>
          {SPANS.map((days) => (
            <Chip key={days} chosen={filters.days === days} onClick={() => set({ days })}>
              {t(`library.days.${days}`)}
            </Chip>
          ))}
        </fieldset>
      </FilterBar>
    </search>
  );
}

/** The reader, and who sent what is shown; not all may list the users of the server. */
function people(filters: Filters, { items = [] }: CommandLog) {
  const found = new Map<number, string>();
  const own = session.value;
  if (own) found.set(own.id, t("sent.you"));
  for (const each of items)
    if (each.userId > 0 && !found.has(each.userId)) found.set(each.userId, personOf(each));
  if (filters.userId !== null && !found.has(filters.userId)) {
    found.set(filters.userId, t("sent.userOf", { id: String(filters.userId) }));
  }
  return [...found].map(([id, name]) => ({ id, name, note: "" }));
}

function countOf({ deviceId, userId, states, days }: Filters): number {
  return Number(deviceId !== null) + Number(userId !== null) + states.length + Number(days > 0);
}

function Chip(props: { chosen: boolean; onClick: () => void; children: string }) {
  return (
    <button type="button" class="chip" aria-pressed={props.chosen} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
