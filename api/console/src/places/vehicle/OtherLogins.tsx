import { useEffect, useState } from "preact/hooks";
import { get, put } from "../../api/call";
import type { DeviceBinding, OtherLogin } from "../../api/types";
import { duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import "./otherLogins.css";

const BEAT_MS = 5000;
/** Its terminals get a code when they register; of others nothing can be learnt anew (docs/devices.md). */
const WITH_CODE = "jt808";

interface OtherLoginsProps {
  id: number;
  /** How people call a protocol. */
  titleOf?: (protocol: string) => string;
}

/** Logins under the number of a vehicle that differed from what is known of it, for those who may edit it. */
export function OtherLogins({ id, titleOf = (name) => name }: OtherLoginsProps) {
  const { value, reload } = useLoaded(`binding ${id}`, (signal) =>
    get<DeviceBinding>(`/devices/${id}/binding`, undefined, signal),
  );
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, BEAT_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (!value || value.others.length === 0) return null;

  async function take({ protocol }: OtherLogin) {
    setBusy(true);
    try {
      await put<DeviceBinding>(`/devices/${id}/binding`, { protocol });
      toast(t("others.taken"));
      reload();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }

  return (
    <section class="card other-logins" aria-labelledby="other-logins">
      <h2 id="other-logins">{t("others.title")}</h2>
      <ul>
        {value.others.map((each) => (
          <li key={`${each.protocol} ${each.reason}`}>
            <div>
              <strong>{reasonOf(each, titleOf)}</strong>
              <small>
                {t("others.from", { host: each.host, protocol: titleOf(each.protocol) })} ·{" "}
                {t("common.ago", { span: duration(now.value - Date.parse(each.time), style.value) })}
              </small>
              {each.registration && <small>{Object.values(each.registration).join(" · ")}</small>}
            </div>
            {mayTake(each) && (
              <button
                type="button"
                disabled={busy}
                aria-label={t("others.takeFrom", { host: each.host, protocol: titleOf(each.protocol) })}
                onClick={() => void take(each)}
              >
                {t("others.take")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function reasonOf({ reason, refused, protocol }: OtherLogin, titleOf: (protocol: string) => string): string {
  switch (reason) {
    case "protocol":
      return t("others.protocol", { protocol: titleOf(protocol) });
    case "registration":
      return t(refused ? "others.terminalRefused" : "others.terminal");
    case "network":
      return t("others.network");
    default:
      return t("others.secret");
  }
}

function mayTake({ reason, protocol }: OtherLogin): boolean {
  return (
    reason === "protocol" || reason === "registration" || (reason === "secret" && protocol === WITH_CODE)
  );
}
