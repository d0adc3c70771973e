import { t } from "../../i18n/translate";
import { QrCode } from "../../parts/QrCode";
import { PasswordField } from "../login/PasswordField";

/** The address of a key for authenticator apps (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function keyAddress(secret: string, email: string, issuer: string): string {
  const query = new URLSearchParams({ secret, issuer });
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(email)}?${query.toString().replace(/\+/g, "%20")}`;
}

interface CodesFormProps {
  /** The new key in Base32; empty to switch one-time codes off. */
  secret: string;
  email: string;
  busy: boolean;
  onSubmit: (currentPassword: string) => void;
  onCancel: () => void;
  /** What the button says that gives up. */
  cancel: string;
}

/** A key of one-time codes for an authenticator app, and the current password. */
export function CodesForm({ secret, email, busy, onSubmit, onCancel, cancel }: CodesFormProps) {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    onSubmit(String(new FormData(event.currentTarget as HTMLFormElement).get("currentPassword")));
  }
  return (
    <form class="totp" onSubmit={submit}>
      {secret && (
        <>
          <p>{t("account.totpScan")}</p>
          <QrCode text={keyAddress(secret, email, "Motorpool")} label={t("account.totpPicture")} />
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
        <button type="button" class="quiet" onClick={onCancel}>
          {cancel}
        </button>
      </div>
    </form>
  );
}
