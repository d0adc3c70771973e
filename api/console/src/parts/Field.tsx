import type { ComponentChildren, PartialInputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

interface Described {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
}

type FieldProps = Described &
  Omit<PartialInputHTMLAttributes<HTMLInputElement>, "label" | "role"> & { trailing?: ComponentChildren };

/** An input with its label above, a hint and an error below. */
export function Field({ label, hint, error, trailing, ...rest }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="field-line">
        <input id={id} {...described(id, hint, error)} {...(rest as object)} />
        {trailing}
      </div>
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

export interface Choice {
  value: string;
  label: string;
}

type SelectProps = Described & {
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
  disabled?: boolean;
  name?: string;
  /** False where the choices are names. */
  translate?: boolean;
};

/** A choice of a few; for many there is `Picker`. */
export function Select({ label, hint, error, value, choices, onChange, ...rest }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        {...described(id, hint, error)}
        {...rest}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

type CheckProps = {
  label: string;
  hint?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
};

/** A box to tick. */
export function Check({ label, hint, checked, onChange, disabled }: CheckProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled ?? false}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...described(id, hint, undefined)}
      />
      <label for={id}>{label}</label>
      <Notes id={id} hint={hint} error={undefined} />
    </div>
  );
}

function described(id: string, hint: string | undefined, error: string | undefined) {
  const ids = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return { ...(ids && { "aria-describedby": ids }), ...(error && { "aria-invalid": true as const }) };
}

function Notes({ id, hint, error }: { id: string; hint: string | undefined; error: string | undefined }) {
  return (
    <>
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
}
