import { t } from "../../i18n/translate";
import { may, saveUser } from "../../state/session";
import { PasswordField } from "../login/PasswordField";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

/** A new password, with the current one. */
export function Password() {
  const { busy, said, setSaid, save } = useSaving();
  if (!may("edit")) return null;

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = (name: string) => String(new FormData(form).get(name));
    if (text("password") !== text("again")) {
      setSaid(t("login.different"));
      return;
    }
    const change = { password: text("password"), currentPassword: text("currentPassword") };
    if (await save(() => saveUser(change), t("account.passwordChanged"))) form.reset();
  }

  return (
    <Section name="password" title={t("account.password")} text={t("account.passwordText")} said={said}>
      <form class="form-grid" onSubmit={(event) => void submit(event)}>
        <PasswordField
          label={t("account.currentPassword")}
          name="currentPassword"
          autocomplete="current-password"
        />
        <PasswordField label={t("account.newPassword")} name="password" autocomplete="new-password" />
        <PasswordField label={t("account.again")} name="again" autocomplete="new-password" />
        <div class="form-end">
          <button type="submit" class="primary" disabled={busy}>
            {t("account.changePassword")}
          </button>
        </div>
      </form>
    </Section>
  );
}
