import { t } from "../i18n/translate";
import { copy } from "./copy";
import { Icon } from "./Icon";

/** A text that is shown once, to be copied: a link or a token. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div class="field-line">
      <input readOnly aria-label={label} value={value} onFocus={(event) => event.currentTarget.select()} />
      <button
        type="button"
        class="icon-button"
        aria-label={t("common.copy")}
        title={t("common.copy")}
        onClick={() => copy(value)}
      >
        <Icon name="copy" />
      </button>
    </div>
  );
}
