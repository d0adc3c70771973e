import { t } from "../i18n/translate";
import { Icon } from "../parts/Icon";
import { type Pick, Picker } from "../parts/Picker";
import "./records.css";

interface ManyPickerProps<Id extends string | number> {
  label: string;
  items: readonly Pick[];
  values: readonly Id[];
  /** What none of them means. */
  none: string;
  error?: string | undefined;
  disabled: boolean;
  onChange: (values: readonly Id[]) => void;
}

/** Several of many: each chosen one is taken away by its button. */
export function ManyPicker<Id extends string | number>(props: ManyPickerProps<Id>) {
  const { label, items, values, none, error, disabled, onChange } = props;
  const nameOf = (id: Id) => items.find((item) => item.id === id)?.name ?? `${id}`;
  return (
    <div class="record-many">
      <Picker
        label={label}
        items={items.filter(({ id }) => !values.includes(id as Id))}
        value={null}
        placeholder={values.length === 0 ? none : t("record.addMore")}
        disabled={disabled}
        onChange={(id) => {
          if (id !== null) onChange([...values, id as Id]);
        }}
      />
      {values.length > 0 && (
        <ul class="chips" aria-label={label}>
          {values.map((id) => (
            <li key={id}>
              <button
                type="button"
                class="chip"
                disabled={disabled}
                aria-label={t("record.remove", { name: nameOf(id) })}
                onClick={() => onChange(values.filter((each) => each !== id))}
              >
                {nameOf(id)}
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
