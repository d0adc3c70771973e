import { hasText, t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { style } from "../../../state/session";

interface ChangedMeanwhileProps {
  fields: readonly string[];
  onClose: () => void;
  onTheirs: () => void;
  onMine: () => void;
}

/** Names the fields that another edit changed, and asks which of the two counts. */
export function ChangedMeanwhile({ fields, onClose, onTheirs, onMine }: ChangedMeanwhileProps) {
  const names = new Intl.ListFormat(style.value.language).format(fields.map(wordOf));
  return (
    <Dialog
      title={t("settings.conflictTitle")}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onTheirs}>
            {t("settings.takeTheirs")}
          </button>
          <button type="button" class="primary" autofocus onClick={onMine}>
            {t("settings.keepBoth")}
          </button>
        </>
      }
    >
      <p>{t("settings.conflict", { fields: names })}</p>
    </Dialog>
  );
}

function wordOf(field: string): string {
  const key = `settings.field.${field}`;
  return hasText(key) ? t(key) : field.replace(/^attributes\./, "");
}
