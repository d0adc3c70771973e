import { useRef, useState } from "preact/hooks";
import type { Geofence } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Rows } from "../../parts/Rows";
import { SearchField } from "../../parts/SearchField";
import { go, location, withQuery } from "../../router";
import { may } from "../../state/session";
import { reloadZones, zonesProblem } from "../../state/zones";
import { FoldButton } from "../map/ListDrawer";
import { ZoneRow } from "./ZoneRow";

const ROW_HEIGHT = 52;
const KINDS = ["circle", "polygon", "corridor"] as const;

interface ZoneListProps {
  /** Null while they are read. */
  zones: readonly Geofence[] | null;
  chosen: number | null;
  onOpen: (address: string) => void;
  /** Bring the list back where it is a drawer, and fold it away. */
  onShow: () => void;
  onFold: () => void;
}

/** All zones by name, with search, and the buttons that draw a new one. */
export function ZoneList({ zones, chosen, onOpen, onShow, onFold }: ZoneListProps) {
  const keyword = location.value.query.get("keyword") ?? "";
  const words = keyword.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (zones ?? []).filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const [at, setAt] = useState(-1);
  const search = useRef<HTMLInputElement>(null);
  const current = at >= 0 ? Math.min(at, found.length - 1) : found.findIndex(({ id }) => id === chosen);
  const step = (by: number) => setAt(Math.max(0, Math.min(found.length - 1, current + by)));
  const open = (index: number) => {
    const zone = found[index];
    if (zone) onOpen(addressOf(`/zones/${zone.id}`, keyword));
  };
  useKeys("list", { next: () => step(1), previous: () => step(-1), open: () => open(current) });
  useKeys("anywhere", {
    search: () => {
      onShow();
      // What was folded away can have the focus only once it is drawn.
      requestAnimationFrame(() => search.current?.select());
    },
  });
  return (
    <section class="zone-list drawer-list" aria-label={t("zone.list")}>
      <div class="zone-tools">
        <SearchField
          field={search}
          label={t("zone.search")}
          value={keyword}
          onText={(text) => {
            setAt(-1);
            go(addressOf(location.peek().path, text), { replace: true });
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              step(event.key === "ArrowDown" ? 1 : -1);
            } else if (event.key === "Enter") open(Math.max(0, current));
            else if (event.key === "Escape") event.currentTarget.blur();
          }}
        >
          <FoldButton onFold={onFold} />
        </SearchField>
        {may("edit") && (
          <fieldset class="zone-kinds">
            <legend>{t("zone.draw")}</legend>
            {KINDS.map((kind) => (
              <button
                key={kind}
                type="button"
                onClick={() => onOpen(withQuery("/zones/new", { kind, at: location.peek().query.get("at") }))}
              >
                <Icon name={kind} size={18} />
                {t(`zone.${kind}`)}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {zones === null && zonesProblem.value === null && <Skeleton label={t("common.loading")} lines={6} />}
      {zonesProblem.value !== null && (
        <Problem problem={zonesProblem.value} onRetry={() => void reloadZones()} />
      )}
      {zones?.length === 0 && <Empty icon="zone" title={t("zone.empty")} text={t("zone.emptyText")} />}
      {zones && zones.length > 0 && found.length === 0 && <Empty icon="search" title={t("zone.noMatch")} />}
      {found.length > 0 && (
        <Rows
          class="zone-rows"
          label={t("zone.list")}
          count={found.length}
          rowHeight={ROW_HEIGHT}
          current={current}
          keyOf={(index) => found[index]?.id ?? index}
          render={(index) => {
            const zone = found[index];
            if (!zone) return null;
            return (
              <ZoneRow
                zone={zone}
                to={addressOf(`/zones/${zone.id}`, keyword)}
                chosen={zone.id === chosen}
                current={index === current}
                onOpen={onOpen}
              />
            );
          }}
        />
      )}
      {zones && (
        <p class="zone-count" role="status">
          {words.length > 0
            ? t("zone.countOf", { shown: found.length, total: zones.length })
            : t("zone.count", { count: zones.length })}
        </p>
      )}
    </section>
  );
}

function addressOf(path: string, keyword: string): string {
  return withQuery(path, { keyword });
}
