import { useEffect, useRef, useState } from "preact/hooks";
import { kindOf } from "../../../commands/fields";
import { typeName } from "../../../commands/names";
import { t } from "../../../i18n/translate";
import { Check } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { picked } from "../../../parts/Picker";
import { hasTouch } from "../../../parts/touch";
import { position } from "../../../state/fleet";
import { may } from "../../../state/session";

/** A command that can be chosen: a saved one, or a type (`savedId` 0). */
export interface Offer {
  key: string;
  savedId: number;
  type: string;
  name: string;
}

interface ChooserProps {
  /** Of the vehicle. */
  id: number;
  offers: readonly Offer[];
  /** Whether a command waits for a vehicle that is not connected. */
  keep: boolean;
  onKeep: (keep: boolean) => void;
  onChoose: (offer: Offer) => void;
}

/** The commands by a part of their name; one that needs nothing else is sent by choosing it. */
export function Chooser({ id, offers, keep, onKeep, onChoose }: ChooserProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const found = picked(
    offers.map(({ key, name, type }) => ({ id: key, name, note: type })),
    text,
  ).flatMap((item) => offers.find((offer) => offer.key === item.id) ?? []);
  const current = Math.min(at, found.length - 1);
  // A phone's keyboard would cover what is to be chosen from.
  useEffect(() => {
    if (!hasTouch) input.current?.focus();
  }, []);

  function press(event: KeyboardEvent) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = Math.max(0, Math.min(found.length - 1, current + (event.key === "ArrowDown" ? 1 : -1)));
      setAt(next);
      document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.repeat) {
      event.preventDefault();
      const offer = found[current];
      if (offer) onChoose(offer);
    } else if (event.key === "Escape") input.current?.blur();
  }

  const groups = [
    { label: t("command.saved"), offers: found.filter((offer) => offer.savedId !== 0) },
    { label: t("command.all"), offers: found.filter((offer) => offer.savedId === 0) },
  ].filter((group) => group.offers.length > 0);
  const isUnknown = position(id).value === undefined;
  const onlyOwnText = offers.every((offer) => offer.savedId !== 0 || offer.type === "custom");
  return (
    <section class="card command-chooser" aria-label={t("vehicle.commands")}>
      <div class="field">
        <label for="command-search">{t("command.search")}</label>
        <input
          ref={input}
          id="command-search"
          role="combobox"
          aria-expanded="true"
          aria-controls="command-list"
          aria-activedescendant={found[current] ? `command-${current}` : undefined}
          autocomplete="off"
          placeholder={t("command.searchHint")}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </div>
      {found.length === 0 && offers.length > 0 && <p class="picker-none">{t("common.noMatch")}</p>}
      <div id="command-list" class="command-list" role="listbox" aria-label={t("vehicle.commands")}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a group of options
          <div key={group.label} role="group" aria-label={group.label}>
            <p aria-hidden="true">{group.label}</p>
            {group.offers.map((offer) => {
              const index = found.indexOf(offer);
              return (
                <div
                  key={offer.key}
                  role="option"
                  id={`command-${index}`}
                  tabIndex={-1}
                  aria-selected={index === current}
                  class="picker-option"
                  onClick={() => onChoose(offer)}
                  onKeyDown={press}
                >
                  <span>{offer.name}</span>
                  <OfferNote of={offer} />
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {!may("anyCommand") && (
        <p class="field-hint">
          {t("command.only")} {offers.length === 0 && t("command.noSaved")}
        </p>
      )}
      {may("anyCommand") && onlyOwnText && isUnknown && <p class="field-hint">{t("command.unknown")}</p>}
      {may("anyCommand") && <Check label={t("command.keep")} checked={keep} onChange={onKeep} />}
    </section>
  );
}

function OfferNote({ of: offer }: { of: Offer }) {
  const { dangerous, fields } = kindOf(offer.type);
  if (dangerous) {
    return (
      <small class="command-dangerous">
        <Icon name="warning" size={14} />
        {t("command.asks")}
      </small>
    );
  }
  const type = typeName(offer.type);
  if (offer.savedId !== 0) return type === offer.name ? null : <small>{type}</small>;
  return fields.length > 0 ? <small aria-hidden="true">…</small> : null;
}
