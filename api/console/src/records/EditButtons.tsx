import { t } from "../i18n/translate";
import { Icon } from "../parts/Icon";

interface EditButtonsProps {
  name: string;
  onEdit?: () => void;
  onDelete?: () => void;
}

/** Edit and delete something of a list. */
export function EditButtons({ name, onEdit, onDelete }: EditButtonsProps) {
  return (
    <>
      {onEdit && (
        <button
          type="button"
          class="icon-button"
          aria-label={t("record.edit", { name })}
          title={t("record.edit", { name })}
          onClick={onEdit}
        >
          <Icon name="edit" size={16} />
        </button>
      )}
      {onDelete && (
        <button
          type="button"
          class="icon-button"
          aria-label={t("record.delete", { name })}
          title={t("record.delete", { name })}
          onClick={onDelete}
        >
          <Icon name="trash" size={16} />
        </button>
      )}
    </>
  );
}
