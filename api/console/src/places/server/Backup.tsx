import { useState } from "preact/hooks";
import { address, get, post } from "../../api/call";
import type { BackupTicket, SigningKeyInfo } from "../../api/types";
import { dateTime } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Check } from "../../parts/Field";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { refusedField } from "../../records/records";
import { useLoaded } from "../../state/responseCache";
import { session, style } from "../../state/session";
import { AdminPlace } from "../admin/AdminPlace";
import { PasswordField } from "../login/PasswordField";
import "./upkeep.css";

/** A backup for who gives the password again, and the keys that sign tokens. */
export default function BackupPlace() {
  return (
    <AdminPlace to="/admin/backup">
      <Backup />
      <Keys />
    </AdminPlace>
  );
}

function Backup() {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ key: string; text: string } | null>(null);
  const [begun, setBegun] = useState<BackupTicket | null>(null);
  const look = style.value;

  async function fetchIt(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const currentPassword = String(new FormData(form).get("currentPassword") ?? "");
    setBusy(true);
    setRefused(null);
    setBegun(null);
    try {
      const ticket = await post<BackupTicket>("/server/backup", currentPassword ? { currentPassword } : {});
      form.reset();
      setBegun(ticket);
      // The browser writes it to the disk as it comes, however long it is.
      const link = document.createElement("a");
      link.href = address("/server/backup", { ticket: ticket.ticket });
      link.download = "";
      link.click();
    } catch (problem) {
      setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
    } finally {
      setBusy(false);
    }
  }

  return (
    <section class="card" aria-labelledby="upkeep-backup">
      <h2 id="upkeep-backup">{t("upkeep.backup")}</h2>
      <p>{t("upkeep.backupAbout")}</p>
      <p>{t("upkeep.backupKey")}</p>
      {session.value?.impersonatorId ? (
        <p class="refusal">{t("upkeep.backupNotHere")}</p>
      ) : (
        <form class="upkeep-form" noValidate onSubmit={(event) => void fetchIt(event)}>
          <PasswordField
            label={t("account.currentPassword")}
            name="currentPassword"
            autocomplete="current-password"
            hint={t("upkeep.backupPassword")}
            error={refused?.key === "currentPassword" ? refused.text : undefined}
            optional
          />
          {refused && refused.key !== "currentPassword" && (
            <p class="refusal" role="alert">
              {refused.text}
            </p>
          )}
          <div class="button-row">
            <button type="submit" class="primary" disabled={busy}>
              {t("upkeep.fetchBackup")}
            </button>
          </div>
        </form>
      )}
      {begun && (
        <p role="status">
          {t("upkeep.backupBegun", {
            database: bytes(begun.databaseBytes, look),
            files: `${t("upkeep.filesOf", { count: begun.files })} (${bytes(begun.fileBytes, look)})`,
          })}{" "}
          {begun.encryptionKeys.length > 0 &&
            t("upkeep.backupKeys", { keys: begun.encryptionKeys.join(", ") })}
        </p>
      )}
    </section>
  );
}

function Keys() {
  const { value, problem, reload } = useLoaded("signing keys", (signal) =>
    get<SigningKeyInfo[]>("/server/signingkeys", {}, signal),
  );
  const [asked, setAsked] = useState(false);
  const timeOf = (text: string) => dateTime(Date.parse(text), style.value);
  return (
    <section class="card" aria-labelledby="upkeep-keys">
      <h2 id="upkeep-keys">{t("upkeep.keys")}</h2>
      <p class="card-text">{t("upkeep.keysText")}</p>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} />}
      <ul class="upkeep-list">
        {value?.map((key) => (
          <li key={key.id}>
            {t("upkeep.key", { id: String(key.id), time: timeOf(key.created) })}
            <small>
              {key.acceptedUntil
                ? t("upkeep.keyUntil", { time: timeOf(key.acceptedUntil) })
                : t("upkeep.keySigns")}
            </small>
          </li>
        ))}
      </ul>
      <div class="button-row">
        <button type="button" onClick={() => setAsked(true)}>
          {t("upkeep.rotate")}
        </button>
      </div>
      {asked && (
        <Rotate
          onClose={() => setAsked(false)}
          onRotated={() => {
            setAsked(false);
            reload();
          }}
        />
      )}
    </section>
  );
}

function Rotate({ onClose, onRotated }: { onClose: () => void; onRotated: () => void }) {
  const [endTokens, setEndTokens] = useState(false);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  async function rotate() {
    setBusy(true);
    try {
      await post("/server/signingkeys", new URLSearchParams({ endTokens: String(endTokens) }));
      toast(t("upkeep.rotated"));
      onRotated();
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
  }
  return (
    <Dialog
      title={t("upkeep.rotateTitle")}
      onClose={onClose}
      actions={
        <>
          <button type="button" autofocus onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="button" class="dangerous" disabled={busy} onClick={() => void rotate()}>
            {t("upkeep.rotate")}
          </button>
        </>
      }
    >
      <p>{t("upkeep.rotateText")}</p>
      <Check
        label={t("upkeep.endTokens")}
        hint={t("upkeep.endTokensText")}
        checked={endTokens}
        onChange={setEndTokens}
      />
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </Dialog>
  );
}
