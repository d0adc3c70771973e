import { useState } from "preact/hooks";
import type { Geofence } from "../api/types";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { OPTION_HEIGHT, type Pick, picked } from "../parts/Picker";
import { Rows } from "../parts/Rows";
import { go } from "../router";
import { railEntries } from "../routes";
import { snapshot } from "../state/fleet";
import { may } from "../state/session";
import { useZones } from "../state/zones";

/** Everything that can be gone to, by name: places, vehicles and zones. */
function destinations(zones: readonly Geofence[]): readonly Pick[] {
  const places = [
    ...railEntries(),
    ...(may("addDevices") ? [{ to: "/connect", label: "fleet.connect" } as const] : []),
    { to: "/account", label: "frame.account" } as const,
  ];
  return [
    ...places.map((place) => ({ id: place.to, name: t(place.label) })),
    ...snapshot().map(({ device }) => ({
      id: `/vehicles/${device.id}`,
      name: device.name,
      note: device.uniqueId,
    })),
    ...zones.map(({ id, name }) => ({ id: `/zones/${id}`, name, note: t("keys.aZone") })),
  ];
}

/** Go to anything by a part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = picked(destinations(useZones() ?? []), text);

  function choose(item: Pick | undefined) {
    if (!item) return;
    onClose();
    go(String(item.id));
  }

  return (
    <Dialog title={t("keys.palette")} onClose={onClose}>
      <div class="palette">
        <input
          role="combobox"
          aria-label={t("common.search")}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found[at] ? `palette-${at}` : undefined}
          autocomplete="off"
          autofocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))));
            } else if (event.key === "Enter") {
              event.preventDefault();
              choose(found[at]);
            }
          }}
        />
        <div id="palette-list" class="palette-list">
          {found.length === 0 && <p class="picker-none">{t("common.noMatch")}</p>}
          <Rows
            role="listbox"
            label={t("keys.palette")}
            count={found.length}
            rowHeight={OPTION_HEIGHT}
            current={at}
            keyOf={(index) => found[index]?.id ?? index}
            render={(index) => (
              <div
                role="option"
                id={`palette-${index}`}
                tabIndex={-1}
                aria-selected={index === at}
                class="picker-option"
                onClick={() => choose(found[index])}
                onKeyDown={() => {}}
              >
                <span>{found[index]?.name}</span>
                <small>{found[index]?.note}</small>
              </div>
            )}
          />
        </div>
      </div>
    </Dialog>
  );
}
