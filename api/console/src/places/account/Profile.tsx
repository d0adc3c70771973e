import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { may, saveUser, session } from "../../state/session";
import { PasswordField } from "../login/PasswordField";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

/** Name and telephone number; the address to log in with is shown. */
export function Profile() {
  const { busy, said, save } = useSaving();
  const user = session.value;
  const known = user?.phone ?? "";
  const [phone, setPhone] = useState(known);
  if (!user) return null;
  const fixed = !may("edit");

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    void save(() =>
      saveUser({
        name: String(fields.get("name")),
        phone: phone || null,
        currentPassword: String(fields.get("currentPassword") ?? "") || null,
      }),
    );
  }

  return (
    <Section title={t("account.profile")} said={said}>
      <form class="form-grid" onSubmit={submit}>
        <Field label={t("account.email")} value={user.email} readOnly />
        <Field
          label={t("account.name")}
          name="name"
          defaultValue={user.name ?? ""}
          maxLength={128}
          disabled={fixed}
          autocomplete="name"
        />
        <Field
          label={t("account.phone")}
          name="phone"
          type="tel"
          value={phone}
          onInput={(event: InputEvent) => setPhone((event.currentTarget as HTMLInputElement).value)}
          maxLength={128}
          disabled={fixed}
          autocomplete="tel"
        />
        {phone !== known && (
          <PasswordField
            label={t("account.currentPassword")}
            name="currentPassword"
            autocomplete="current-password"
            hint={t("account.phoneGuarded")}
            optional
          />
        )}
        <div class="form-end">
          <button type="submit" class="primary" disabled={busy || fixed}>
            {t("common.save")}
          </button>
        </div>
      </form>
    </Section>
  );
}
