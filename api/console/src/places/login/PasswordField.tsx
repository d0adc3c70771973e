import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { Icon } from "../../parts/Icon";

interface PasswordFieldProps {
  label: string;
  name: string;
  autocomplete: "current-password" | "new-password";
  hint?: string;
  error?: string | undefined;
  /** Whether it may be left empty. */
  optional?: boolean;
}

/** A password that can be shown while it is typed. */
export function PasswordField({ label, name, autocomplete, hint, error, optional }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <Field
      label={label}
      name={name}
      type={shown ? "text" : "password"}
      autocomplete={autocomplete}
      maxLength={1024}
      required={!optional}
      hint={hint}
      error={error}
      trailing={
        <button
          type="button"
          class="icon-button"
          aria-label={t("login.show")}
          title={t("login.show")}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          <Icon name="eye" />
        </button>
      }
    />
  );
}
