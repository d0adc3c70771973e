import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { Picker } from "../../parts/Picker";
import { go } from "../../router";
import { deviceIds, deviceNow } from "../../state/fleet";
import { addressOf, type Filters, KINDS, SPANS } from "./library";

const REST_MS = 300;

/** Words, vehicle, kinds, span and whether kept; all of it stands in the address. */
export function LibraryFilter({ filters }: { filters: Filters }) {
  const set = (change: Partial<Filters>) => go(addressOf({ ...filters, ...change }));
  const [text, setText] = useState(filters.text);
  const timer = useRef(0);
  useEffect(() => setText(filters.text), [filters.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const vehicles = deviceIds.value.map((id) => {
    const found = deviceNow(id);
    return { id, name: found?.name ?? "", note: found?.uniqueId ?? "" };
  });
  return (
    <search class="library-filter">
      <Field
        label={t("library.search")}
        type="search"
        maxLength={100}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(
            () => go(addressOf({ ...filters, text: value.trim() }), { replace: true }),
            REST_MS,
          );
        }}
      />
      <Picker
        label={t("library.vehicle")}
        items={vehicles}
        value={filters.deviceId}
        noneLabel={t("library.allVehicles")}
        onChange={(id) => set({ deviceId: id === null ? null : Number(id) })}
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
    </search>
  );
}

function Chip(props: { chosen: boolean; onClick: () => void; children: string }) {
  return (
    <button type="button" class="chip" aria-pressed={props.chosen} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
