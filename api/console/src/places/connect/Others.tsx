import { duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { titleOf } from "./titles";
import type { Tracker } from "./trackers";
import type { Sender } from "./unclaimedSenders";

interface OthersProps {
  senders: readonly Sender[];
  trackers: readonly Tracker[];
  onTake: ((sender: Sender) => void) | null;
}

/** Senders that belong to no vehicle; one of them may be the tracker. */
export function Others({ senders, trackers, onTake }: OthersProps) {
  return (
    <section class="card" aria-labelledby="connect-others">
      <h2 id="connect-others">{t("connect.others")}</h2>
      <ul class="connect-others">
        {senders.map((sender) => (
          <li key={sender.key}>
            <div>
              <strong>{sender.uniqueId || t("connect.nameless")}</strong>
              <small>
                {t("connect.from", { host: sender.host, protocol: titleOf(trackers, sender.protocol) })} ·{" "}
                {t("common.ago", { span: duration(now.value - sender.at, style.value) })}
              </small>
              {sender.guessedProtocol && (
                <small>{t("connect.looks", { protocol: titleOf(trackers, sender.guessedProtocol) })}</small>
              )}
              {!sender.uniqueId && sender.problem && <small>{sender.problem}</small>}
            </div>
            {sender.deviceId > 0 && (
              <Link class="button" to={`/vehicles/${sender.deviceId}`}>
                {t("connect.open")}
              </Link>
            )}
            {sender.deviceId === 0 && sender.uniqueId && onTake && (
              <button
                type="button"
                aria-label={t("connect.takeNumber", { number: sender.uniqueId })}
                onClick={() => onTake(sender)}
              >
                {t("connect.take")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
