import type { ComponentChildren } from "preact";
import type { Capture, Footage } from "../../api/types";
import { date } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { withQuery } from "../../router";
import { device } from "../../state/fleet";
import { style } from "../../state/session";
import { instantText } from "../../time/spans";
import { CaptureLine } from "../../video/recorded/CaptureLine";
import { begunOf, dismiss, ownCaptures, vehicleOf } from "../../video/recorded/captures";
import { clockOf } from "../../video/recorded/clock";
import { FootageLine } from "../../video/recorded/FootageLine";
import { useFootage } from "../../video/recorded/footage";
import "../../video/recorded/film.css";

/** What is being recorded, what this browser began, and what waits for vehicles; nothing where there is none. */
export function Running() {
  const own = ownCaptures.value;
  // What has come is in the list below.
  const footage = useFootage(0).value.filter(({ status }) => status !== "COMPLETE");
  if (own.length === 0 && footage.length === 0) return null;
  return (
    <div class="library-running">
      {own.length > 0 && (
        <section class="card" aria-labelledby="captures-mine">
          <h2 id="captures-mine">{t("capture.mine")}</h2>
          {own.map(({ capture }) => (
            <Entry key={capture.id} of={capture} at={spanStart(capture)}>
              <CaptureLine capture={capture} />
              {capture.status !== "RECORDING" && (
                <button type="button" class="link" onClick={() => dismiss(capture.id)}>
                  {t("capture.dismiss")}
                </button>
              )}
            </Entry>
          ))}
        </section>
      )}
      {footage.length > 0 && (
        <section class="card" aria-labelledby="captures-requests">
          <h2 id="captures-requests">{t("capture.requests")}</h2>
          {footage.map((request) => (
            <Entry key={request.id} of={request} at={Date.parse(request.startTime) + clockHere(request)}>
              <FootageLine request={request} />
            </Entry>
          ))}
        </section>
      )}
    </div>
  );
}

interface EntryProps {
  of: Pick<Capture | Footage, "deviceId" | "channel">;
  /** When what it holds was recorded, or null. */
  at: number | null;
  children: ComponentChildren;
}

/** A capture below its vehicle, which leads to the time in question. */
function Entry({ of, at, children }: EntryProps) {
  const to =
    at === null
      ? `/vehicles/${of.deviceId}`
      : withQuery(`/vehicles/${of.deviceId}/history`, {
          at: instantText(Math.floor(at / 1000) * 1000),
          channel: String(of.channel),
        });
  return (
    <article class="captures-entry">
      <h3>
        <Link to={to} title={t(at === null ? "vehicle.open" : "capture.openHistory")}>
          <Icon name="car" size={16} />
          <span>{vehicleOf(of)}</span>
        </Link>
        {at !== null && <span class="faint">{date(at, style.value)}</span>}
      </h3>
      {children}
    </article>
  );
}

/** When the span of a capture begins by true time; null where that is not known. */
function spanStart(capture: Capture): number | null {
  const from = capture.startTime ? Date.parse(capture.startTime) : begunOf(capture.id)?.from;
  return from === undefined ? null : from + clockHere(capture);
}

function clockHere({ deviceId, channel }: Pick<Capture | Footage, "deviceId" | "channel">): number {
  return clockOf(device(deviceId).value, channel);
}
