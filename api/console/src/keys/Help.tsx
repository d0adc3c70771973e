import { Fragment } from "preact";
import { type Key, t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { type KeyEntry, type KeyPlace, keys } from "./table";

const PLACES: readonly [KeyPlace, Key][] = [
  ["anywhere", "keys.anywhere"],
  ["list", "keys.list"],
  ["vehicle", "keys.vehicle"],
  ["player", "keys.player"],
  ["history", "keys.placeHistory"],
  ["event", "keys.event"],
  ["tickets", "keys.tickets"],
  ["ticket", "keys.onTicket"],
  ["zone", "keys.zone"],
];

const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

/** All keys, by where they work. */
export function Help({ onClose }: { onClose: () => void }) {
  const all: readonly KeyEntry[] = keys;
  return (
    <Dialog title={t("keys.title")} onClose={onClose} wide>
      <div class="keys-help">
        {PLACES.map(([place, label]) => {
          const entries = all.filter((entry) => entry.place === place && !entry.hidden);
          if (entries.length === 0) return null;
          return (
            <section key={place}>
              <h3>{t(label)}</h3>
              <dl>
                {entries.map((entry) => (
                  <Fragment key={entry.key}>
                    <dt>
                      <Combination name={entry.key} />
                    </dt>
                    <dd>{t(entry.label)}</dd>
                  </Fragment>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}

function Combination({ name }: { name: string }) {
  if (name === " ") return <kbd>{t("keys.space")}</kbd>;
  if (name === "1-9") return <kbd>{t("keys.digits")}</kbd>;
  if (name === "0-9") return <kbd>{t("keys.allDigits")}</kbd>;
  const sequence = name.split(" ");
  return (
    <>
      {sequence.map((key, index) => (
        <Fragment key={key}>
          {index > 0 && ` ${t("keys.then")} `}
          {key
            .split(/\+(?=.)/)
            .map((piece) => SIGNS[piece] ?? piece)
            .map((piece) => (
              <kbd key={piece}>{piece}</kbd>
            ))}
        </Fragment>
      ))}
    </>
  );
}
