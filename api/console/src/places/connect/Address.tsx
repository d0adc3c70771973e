import type { ComponentChildren } from "preact";
import { t } from "../../i18n/translate";
import { CopyField } from "../../parts/CopyField";
import { Field } from "../../parts/Field";
import { QrCode } from "../../parts/QrCode";
import { isPrivate, type Tracker } from "./trackers";

interface AddressProps {
  tracker: Tracker | null;
  trackers: readonly Tracker[];
  host: string;
  /** Number of the SIM, to which the text message goes. */
  phone: string;
  onPhone: (phone: string) => void;
}

/** What is set in the tracker: address and port, as text, as a text message and as a QR code. */
export function Address({ tracker, trackers, host, phone, onPhone }: AddressProps) {
  const message = tracker?.message ?? null;
  return (
    <section class="card" aria-labelledby="connect-there">
      <h2 id="connect-there">{t("connect.inTracker")}</h2>
      {isPrivate(host) && <p class="connect-warning">{t("connect.private", { host })}</p>}
      <div class="connect-address">
        <div class="connect-values">
          {tracker?.url ? (
            <Value label={t("connect.url")}>
              <CopyField label={t("connect.url")} value={tracker.url} />
            </Value>
          ) : (
            <Value label={t("connect.address")}>
              <CopyField label={t("connect.address")} value={host} />
            </Value>
          )}
          {tracker && !tracker.url && (
            <Value label={t("connect.port", { transport: tracker.transport })}>
              <CopyField
                label={t("connect.port", { transport: tracker.transport })}
                value={String(tracker.port)}
              />
            </Value>
          )}
          {message !== null && (
            <Value label={t("connect.message")}>
              <CopyField label={t("connect.message")} value={message} />
              <small>{t("connect.messageHint")}</small>
            </Value>
          )}
        </div>
        {tracker && (
          <figure>
            <QrCode
              text={
                message === null
                  ? (tracker.url ?? `${host}:${tracker.port}`)
                  : `SMSTO:${phone.trim()}:${message}`
              }
              label={t(message === null ? "connect.qrAddress" : "connect.qrMessage")}
            />
            <figcaption>{t(message === null ? "connect.qrAddress" : "connect.qrMessage")}</figcaption>
          </figure>
        )}
      </div>
      {message !== null && (
        <div class="connect-send">
          <Field
            label={t("connect.phone")}
            hint={t("connect.phoneHint")}
            type="tel"
            autocomplete="off"
            maxLength={128}
            value={phone}
            onInput={(event: { currentTarget: HTMLInputElement }) => onPhone(event.currentTarget.value)}
          />
          <a class="button" href={`sms:${phone.replace(/[^+\d]/g, "")}?body=${encodeURIComponent(message)}`}>
            {t("connect.send")}
          </a>
        </div>
      )}
      {!tracker && <Ports trackers={trackers} />}
    </section>
  );
}

function Value({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <span class="connect-label">{label}</span>
      {children}
    </div>
  );
}

/** The ports of all protocols, for trackers whose protocol is not known. */
function Ports({ trackers }: { trackers: readonly Tracker[] }) {
  return (
    <>
      <p>{t("connect.anyPort")}</p>
      <ul class="connect-ports">
        {trackers.map((each) => (
          <li key={each.name}>
            <span translate={false}>{each.title}</span>
            <code>{each.port}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
