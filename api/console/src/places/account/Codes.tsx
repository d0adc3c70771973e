import { useState } from "preact/hooks";
import { post } from "../../api/call";
import { t } from "../../i18n/translate";
import { QrCode } from "../../parts/QrCode";
import { may, saveUser, session } from "../../state/session";
import { PasswordField } from "../login/PasswordField";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

/** The address of a key for authenticator apps (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function keyAddress(secret: string, email: string, issuer: string): string {
  const query = new URLSearchParams({ secret, issuer });
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(email)}?${query.toString().replace(/\+/g, "%20")}`;
}

/** One-time codes at the login. */
export function Codes() {
  const { busy, said, save } = useSaving();
  const [secret, setSecret] = useState<string | null>(null);
  const user = session.value;
  if (!user || !may("edit")) return null;

  async function begin() {
    await save(async () => setSecret(await post<string>("/users/totp")), t("account.totpReady"));
  }

  async function set(event: SubmitEvent, key: string) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const currentPassword = String(new FormData(form).get("currentPassword"));
    const done = t(key ? "account.totpIsOn" : "account.totpIsOff");
    if (await save(() => saveUser({ totpKey: key, currentPassword }), done)) setSecret(null);
  }

  return (
    <Section title={t("account.totp")} text={t("account.totpText")} said={said}>
      {secret === null ? (
        <div class="button-row">
          <button type="button" disabled={busy} onClick={() => void begin()}>
            {t("account.totpBegin")}
          </button>
          <button type="button" class="quiet" onClick={() => setSecret("")}>
            {t("account.totpOff")}
          </button>
        </div>
      ) : (
        <form class="totp" onSubmit={(event) => void set(event, secret)}>
          {secret && (
            <>
              <p>{t("account.totpScan")}</p>
              <QrCode text={keyAddress(secret, user.email, "Motorpool")} label={t("account.totpPicture")} />
              <p>
                {t("account.totpKey")}: <code>{secret.replace(/(.{4})(?=.)/g, "$1 ")}</code>
              </p>
            </>
          )}
          <PasswordField
            label={t("account.currentPassword")}
            name="currentPassword"
            autocomplete="current-password"
          />
          <div class="button-row">
            <button type="submit" class="primary" disabled={busy}>
              {t(secret ? "account.totpOn" : "account.totpOff")}
            </button>
            <button type="button" class="quiet" onClick={() => setSecret(null)}>
              {t("common.cancel")}
            </button>
          </div>
        </form>
      )}
    </Section>
  );
}
