import { useEffect, useRef, useState } from "preact/hooks";
import type { Group } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { FilterBar } from "../../parts/FilterBar";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Picker, picked } from "../../parts/Picker";
import { Rows } from "../../parts/Rows";
import { SearchField } from "../../parts/SearchField";
import { go, location, withQuery } from "../../router";
import { deviceIds, loaded } from "../../state/fleet";
import { may, style } from "../../state/session";
import { useZones } from "../../state/zones";
import { FoldButton } from "../map/ListDrawer";
import { columns } from "./columns";
import { FirstSteps } from "./FirstSteps";
import { FleetRow, rowHeight } from "./FleetRow";
import { FoundPlaces } from "./FoundPlaces";
import { type Filters, filtersOf } from "./filters";
import { drawerOpen, foldList, listSize, showList } from "./listSize";
import type { Filtered } from "./useFilteredVehicles";
import { type MenuAt, VehicleMenu } from "./VehicleMenu";
import { STATES, type VehicleState } from "./vehicleState";

/** The others are rare. */
const ALWAYS_OFFERED: readonly VehicleState[] = ["moving", "standing", "offline"];

/** Zones that a search lists at most, above the vehicles. */
const MOST_ZONES = 3;

/** Filters that a change of the address keeps. */
function addressOf(path: string, filters: Filters): string {
  const { keyword, status, groupId } = filters;
  return withQuery(path, { keyword, status, groupId: groupId === null ? null : String(groupId) });
}

interface FleetListProps {
  chosen: number | null;
  /** The ids that the filters leave. */
  found: readonly number[];
  /** How many vehicles of each state there are, whichever is chosen. */
  counts: Filtered["counts"];
  groups: readonly Group[] | null;
}

/** All vehicles that the filters leave, with search; arrows move through it. */
export function FleetList({ chosen, found, counts, groups }: FleetListProps) {
  const filters = filtersOf(location.value.query);
  const [at, setAt] = useState(-1);
  const [menu, setMenu] = useState<MenuAt | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const listed = found.length;
  const current = at >= 0 ? Math.min(at, listed - 1) : chosen === null ? -1 : found.indexOf(chosen);

  const { path } = location.value;
  const set = (change: Partial<Filters>, replace = false) =>
    go(addressOf(path, { ...filters, ...change }), { replace });
  const open = (id: number | undefined) => {
    if (id === undefined) return;
    setAt(-1);
    go(addressOf(`/vehicles/${id}`, filters));
  };
  const step = (by: number) => setAt(Math.max(0, Math.min(listed - 1, current + by)));

  /** Keys are those of the vehicle again, once it is drawn. */
  const leaveSearch = () => {
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".vehicle-panel h1")?.focus());
  };

  useKeys("list", {
    next: () => step(1),
    previous: () => step(-1),
    open: () => open(found[current]),
  });
  useKeys("anywhere", {
    search: () => {
      const focus = () => search.current?.select();
      if (listSize.value !== "folded" && drawerOpen.value) return focus();
      showList();
      // What was folded away can have the focus only once it is drawn.
      return requestAnimationFrame(focus);
    },
  });
  useEffect(() => {
    if (location.value.query.get("find") === null) return;
    showList();
    requestAnimationFrame(() => search.current?.focus());
    go(addressOf(path, filters), { replace: true });
  }, [path]);

  return (
    <section class="fleet-list drawer-list" aria-label={t("fleet.vehicles")}>
      <div class="fleet-tools">
        <FilterBar
          count={Number(filters.status !== "") + Number(filters.groupId !== null)}
          class="fleet-filters"
          lead={
            <SearchField
              field={search}
              label={t("fleet.search")}
              value={filters.keyword}
              onFocus={showList}
              onText={(text) => {
                setAt(-1);
                set({ keyword: text }, true);
              }}
              onKeyDown={(event) => {
                if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                  event.preventDefault();
                  step(event.key === "ArrowDown" ? 1 : -1);
                } else if (event.key === "Enter") {
                  open(found[Math.max(0, current)]);
                  leaveSearch();
                } else if (event.key === "Escape") event.currentTarget.blur();
              }}
            >
              <kbd>/</kbd>
              {may("addDevices") && (
                <Link
                  class="icon-button"
                  to="/connect"
                  aria-label={t("fleet.connect")}
                  title={t("fleet.connect")}
                >
                  <Icon name="plus" />
                </Link>
              )}
              <FoldButton onFold={foldList} />
            </SearchField>
          }
        >
          <States counts={counts} chosen={filters.status} onChoose={(status) => set({ status })} />
          {groups && groups.length > 0 && (
            <Picker
              label={t("fleet.group")}
              items={groups.map((group) => ({ id: group.id, name: group.name }))}
              value={filters.groupId}
              noneLabel={t("fleet.allGroups")}
              onChange={(id) => set({ groupId: id === null ? null : Number(id) })}
            />
          )}
        </FilterBar>
      </div>
      <FoundZones keyword={filters.keyword} />
      {!loaded.value && (
        <Skeleton label={t("common.loading")} lines={16} rowHeight={rowHeight(columns.value)} />
      )}
      {loaded.value && listed === 0 && <Nothing hasFilters={isFiltered(filters)} />}
      {listed > 0 && <FirstSteps />}
      {listed > 0 && (
        <Rows
          class="fleet-rows"
          label={t("fleet.vehicles")}
          count={listed}
          rowHeight={rowHeight(columns.value)}
          current={current}
          keyOf={(index) => found[index] ?? index}
          render={(index) => {
            const id = found[index];
            if (id === undefined) return null;
            return (
              <FleetRow
                id={id}
                to={addressOf(`/vehicles/${id}`, filters)}
                chosen={id === chosen}
                current={index === current}
                groups={groups}
                onMenu={(x, y) => setMenu({ id, x, y })}
              />
            );
          }}
        />
      )}
      <FoundPlaces keyword={filters.keyword} />
      {loaded.value && (
        <p class="fleet-count" role="status">
          {isFiltered(filters)
            ? t("fleet.countOf", { shown: listed, total: deviceIds.value.length })
            : t("fleet.count", { count: listed })}
        </p>
      )}
      {menu && <VehicleMenu at={menu} onClose={() => setMenu(null)} />}
    </section>
  );
}

interface StatesProps {
  counts: Filtered["counts"];
  chosen: Filters["status"];
  onChoose: (status: Filters["status"]) => void;
}

/** The states to choose from, each with how many vehicles are in it; those of none are not offered. */
function States({ counts, chosen, onChoose }: StatesProps) {
  const total = STATES.reduce((sum, state) => sum + counts[state], 0);
  const offered = STATES.filter(
    (state) => counts[state] > 0 || state === chosen || ALWAYS_OFFERED.includes(state),
  );
  const chip = (status: Filters["status"], label: string, count: number, about?: string) => (
    <button
      key={status}
      type="button"
      class="chip"
      aria-pressed={chosen === status}
      title={about}
      onClick={() => onChoose(status)}
    >
      {label} <span class="chip-count">{count.toLocaleString(style.value.language)}</span>
    </button>
  );
  return (
    <fieldset class="chips">
      <legend class="hidden">{t("fleet.status")}</legend>
      {chip("", t("fleet.all"), total)}
      {offered.map((state) => chip(state, t(`status.${state}`), counts[state], t(`status.about.${state}`)))}
      {(counts.archived > 0 || chosen === "archived") &&
        chip("archived", t("fleet.archived"), counts.archived, t("fleet.aboutArchived"))}
    </fieldset>
  );
}

/** The zones whose name fits the search, each on the map. */
function FoundZones({ keyword }: { keyword: string }) {
  const wanted = keyword.trim() !== "";
  const zones = useZones(wanted);
  const found = wanted ? picked(zones ?? [], keyword).slice(0, MOST_ZONES) : [];
  if (found.length === 0) return null;
  return (
    <ul class="fleet-zones" aria-label={t("zone.title")}>
      {found.map(({ id, name }) => (
        <li key={id}>
          <Link to={`/zones/${id}`}>
            <Icon name="zone" size={16} />
            <span>{name}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function isFiltered({ keyword, status, groupId }: Filters): boolean {
  return keyword !== "" || status !== "" || groupId !== null;
}

function Nothing({ hasFilters }: { hasFilters: boolean }) {
  if (!hasFilters) return <FirstSteps />;
  return (
    <Empty icon="search" title={t("fleet.noMatch")} text={t("fleet.noMatchText")}>
      <button type="button" onClick={() => go("/fleet")}>
        {t("fleet.clear")}
      </button>
    </Empty>
  );
}
