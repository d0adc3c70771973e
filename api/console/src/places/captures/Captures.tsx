import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Capture, Footage } from "../../api/types";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { go, location, withQuery } from "../../router";
import { device, deviceIds, deviceNow } from "../../state/fleet";
import { style } from "../../state/session";
import { instantText } from "../../time/spans";
import { CaptureLine } from "../../video/recorded/CaptureLine";
import { begunOf, dismiss, ownCaptures, useCaptures, vehicleOf } from "../../video/recorded/captures";
import { clockOf } from "../../video/recorded/clock";
import { FootageLine } from "../../video/recorded/FootageLine";
import { useFootage } from "../../video/recorded/footage";
import "../../video/recorded/film.css";
import "./captures.css";

/** Video that is kept: what this browser began, what waits for vehicles, and `?deviceId=12` all of a vehicle. */
export default function Captures() {
  const deviceId = Number(location.value.query.get("deviceId")) || 0;
  const own = ownCaptures.value;
  const footage = useFootage(0).value;
  const ofVehicle = useCaptures(deviceId).value;
  const vehicles = deviceIds.value.map((id) => {
    const found = deviceNow(id);
    return { id, name: found?.name ?? "", note: found?.uniqueId ?? "" };
  });
  useEffect(() => {
    document.title = `${t("capture.title")} · Motorpool`;
  }, []);
  return (
    <div class="page captures">
      <h1>{t("capture.title")}</h1>
      {own.length === 0 && footage.length === 0 && (
        <Empty icon="camera" title={t("capture.empty")} text={t("capture.emptyText")} />
      )}
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
      <section class="card" aria-labelledby="captures-vehicle">
        <h2 id="captures-vehicle">{t("capture.ofVehicle")}</h2>
        <Picker
          label={t("capture.choose")}
          items={vehicles}
          value={deviceId || null}
          onChange={(id) => go(withQuery("/captures", { deviceId: id === null ? null : String(id) }))}
        />
        {deviceId > 0 && ofVehicle.length === 0 && <p class="faint">{t("capture.emptyVehicle")}</p>}
        {ofVehicle.map((capture) => (
          <Entry key={capture.id} of={capture} at={spanStart(capture)}>
            <CaptureLine capture={capture} />
          </Entry>
        ))}
      </section>
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
        {at !== null && <span class="faint">{dateTime(at, style.value)}</span>}
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
