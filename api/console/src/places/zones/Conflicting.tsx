import { hasText, t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { style } from "../../state/session";
import type { Editing } from "./editing";
import { type Conflict, keepBoth, takeTheirs } from "./requests";

interface ConflictingProps {
  conflict: Conflict;
  editing: Editing;
  onClose: () => void;
  /** Save what is edited now. */
  onSave: () => void;
}

/** What another edit of the same zone changed meanwhile, and which of the two counts. */
export function Conflicting({ conflict, editing, onClose, onSave }: ConflictingProps) {
  const fields = new Intl.ListFormat(style.value.language).format(conflict.fields.map(wordOf));
  return (
    <Dialog
      title={t("zone.conflictTitle")}
      onClose={onClose}
      actions={
        <>
          <button
            type="button"
            onClick={() => {
              takeTheirs(editing, conflict.theirs);
              onClose();
            }}
          >
            {t("zone.takeTheirs")}
          </button>
          <button
            type="button"
            class="primary"
            autofocus
            onClick={() => {
              keepBoth(editing, conflict.theirs);
              onClose();
              onSave();
            }}
          >
            {t("zone.keepBoth")}
          </button>
        </>
      }
    >
      <p>{t("zone.conflict", { fields })}</p>
    </Dialog>
  );
}

function wordOf(field: string): string {
  const name = field.replace(/^attributes\./, "");
  const key = `zone.field${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return hasText(key) ? t(key) : name;
}
