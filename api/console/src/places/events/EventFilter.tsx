import type { Group } from "../../api/types";
import { t } from "../../i18n/translate";
import { FilterBar } from "../../parts/FilterBar";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { spanText, TimeField } from "../../parts/TimeField";
import { go } from "../../router";
import { read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { resolveSpan } from "../../time/spans";
import { VehiclePicker } from "../fleet/VehiclePicker";
import { addressOf, type EventFilters } from "./filters";
import { kindChoices, kindName, kindsOf, parametersOf } from "./kinds";

interface EventFilterProps {
  path: string;
  filters: EventFilters;
  ofVehicle?: boolean;
}

/** Span, vehicle, group and kinds of a list of events. */
export function EventFilter({ path, filters, ofVehicle = false }: EventFilterProps) {
  const set = (change: Partial<EventFilters>) => go(addressOf(path, { ...filters, ...change }));
  const setKinds = (kinds: readonly string[]) => {
    const { type, alarm } = parametersOf(kinds);
    set({ kinds: kindsOf(type, alarm) });
  };
  const { zone } = style.value;
  const hasSpan = ofVehicle || filters.state !== "OPEN";
  const span = hasSpan ? resolveSpan(filters.span, now.value, zone) : null;
  return (
    <FilterBar
      count={setIn(filters, ofVehicle)}
      label={span ? spanText(span.from, span.to, now.value, style.value) : undefined}
      class="event-filter"
    >
      {hasSpan && (
        <TimeField
          label={t("event.when")}
          value={filters.span}
          now={now.value}
          style={style.value}
          onSpan={(span) => set({ span })}
        />
      )}
      {!ofVehicle && <Whose filters={filters} set={set} />}
      <Picker
        label={t("event.kind")}
        items={kindChoices()}
        value={null}
        placeholder={filters.kinds.length === 0 ? t("event.allKinds") : ""}
        onChange={(kind) => kind !== null && setKinds([...filters.kinds, String(kind)])}
      />
      {filters.kinds.length > 0 && (
        <ul class="chips" aria-label={t("event.kinds")}>
          {filters.kinds.map((kind) => (
            <li key={kind}>
              <button
                type="button"
                class="chip"
                aria-label={t("event.withoutKind", { kind: kindName(kind) })}
                onClick={() => setKinds(filters.kinds.filter((each) => each !== kind))}
              >
                {kindName(kind)}
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </FilterBar>
  );
}

/** How many filters are set besides the span, which always is. */
function setIn({ deviceId, groupId, kinds }: EventFilters, ofVehicle: boolean): number {
  return Number(!ofVehicle && deviceId !== null) + Number(groupId !== null) + kinds.length;
}

function Whose({ filters, set }: { filters: EventFilters; set: (change: Partial<EventFilters>) => void }) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  return (
    <>
      <VehiclePicker
        label={t("event.vehicle")}
        value={filters.deviceId}
        noneLabel={t("event.allVehicles")}
        onChange={(deviceId) => set({ deviceId })}
      />
      {groups.value && groups.value.length > 0 && (
        <Picker
          label={t("event.group")}
          items={groups.value.map((group) => ({ id: group.id, name: group.name }))}
          value={filters.groupId}
          noneLabel={t("event.allGroups")}
          onChange={(id) => set({ groupId: id === null ? null : Number(id) })}
        />
      )}
    </>
  );
}
