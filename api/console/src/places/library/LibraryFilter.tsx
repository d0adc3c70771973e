import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { FilterBar } from "../../parts/FilterBar";
import { SearchField } from "../../parts/SearchField";
import { go } from "../../router";
import { VehiclePicker } from "../fleet/VehiclePicker";
import { addressOf, type Filters, KINDS, SPANS } from "./library";

const REST_MS = 300;

/** Words, vehicle, kinds, span and whether kept; all of it stands in the address. */
export function LibraryFilter({ filters }: { filters: Filters }) {
  const set = (change: Partial<Filters>) => go(addressOf({ ...filters, ...change }));
  const [text, setText] = useState(filters.text);
  const timer = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  useKeys("anywhere", { search: () => field.current?.select() });
  useEffect(() => setText(filters.text), [filters.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <search>
      <FilterBar
        count={setIn(filters)}
        class="library-filter"
        lead={
          <SearchField
            field={field}
            label={t("library.search")}
            maxLength={100}
            value={text}
            onText={(value) => {
              setText(value);
              clearTimeout(timer.current);
              timer.current = window.setTimeout(
                () => go(addressOf({ ...filters, text: value.trim() }), { replace: true }),
                REST_MS,
              );
            }}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          >
            <kbd>/</kbd>
          </SearchField>
        }
      >
        <VehiclePicker
          label={t("library.vehicle")}
          value={filters.deviceId}
          noneLabel={t("library.allVehicles")}
          onChange={(deviceId) => set({ deviceId })}
        />
        <fieldset class="chips" aria-label={t("library.kinds")}>
          {KINDS.map((kind) => {
            const chosen = filters.kinds.includes(kind);
            const others = filters.kinds.filter((each) => each !== kind);
            return (
              <Chip
                key={kind}
                chosen={chosen}
                onClick={() => set({ kinds: chosen ? others : [...others, kind] })}
              >
                {t(`library.kinds.${kind}`)}
              </Chip>
            );
          })}
          <Chip chosen={filters.kept} onClick={() => set({ kept: !filters.kept })}>
            {t("library.kept")}
          </Chip>
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

/** How many filters are set besides the words, which are never folded away. */
function setIn({ deviceId, kinds, days, kept }: Filters): number {
  return Number(deviceId !== null) + kinds.length + Number(days > 0) + Number(kept);
}

function Chip(props: { chosen: boolean; onClick: () => void; children: string }) {
  return (
    <button type="button" class="chip" aria-pressed={props.chosen} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
