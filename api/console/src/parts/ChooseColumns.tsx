import { useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Dialog } from "./Dialog";
import { Check } from "./Field";
import { Icon } from "./Icon";

interface ChooseColumnsProps {
  /** All columns in their order; the first one is always shown. */
  columns: readonly { key: string; label: string }[];
  shown: readonly string[];
  /** Called once, with the keys in the order of `columns`, when something else was chosen. */
  onShown: (keys: readonly string[]) => void;
}

/** A button with which the columns of a table are chosen. */
export function ChooseColumns({ columns, shown, onShown }: ChooseColumnsProps) {
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  function close() {
    if (chosen && chosen.join() !== shown.join()) onShown(chosen);
    setChosen(null);
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => setChosen(shown)}>
        <Icon name="settings" size={16} />
        {t("table.columns")}
      </button>
      {chosen && (
        <Dialog
          title={t("table.columns")}
          onClose={close}
          actions={
            <button type="button" class="primary" autofocus onClick={close}>
              {t("common.close")}
            </button>
          }
        >
          <div class="table-choice">
            {columns.slice(1).map(({ key, label }) => (
              <Check
                key={key}
                label={label}
                checked={chosen.includes(key)}
                onChange={(isShown) =>
                  setChosen(
                    columns
                      .map((each) => each.key)
                      .filter((each) => (each === key ? isShown : chosen.includes(each))),
                  )
                }
              />
            ))}
          </div>
        </Dialog>
      )}
    </>
  );
}
