import type { ComponentChildren } from "preact";
import { Problem as Refused } from "../../api/call";
import type { Device, Group, Position } from "../../api/types";
import { compassPoint, coordinates } from "../../format/coordinates";
import { dateTime, duration, utc } from "../../format/times";
import { altitude, speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { copy } from "../../parts/copy";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go, location, withQuery } from "../../router";
import { device, loadDevice, loaded, position } from "../../state/fleet";
import { useMotion } from "../../state/onScreen";
import { read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { NewestEvents } from "../events/NewestEvents";
import { OpenAlarms } from "../events/OpenAlarms";
import { hasPlace } from "../fleet/filters";
import { usePlace } from "../fleet/place";
import { lastHeard } from "../fleet/stateText";
import { vehicleState } from "../fleet/vehicleState";
import { vehicleActs } from "./acts";
import { imageOf } from "./deviceImage";
import { StatusMark } from "./StatusMark";
import { Values } from "./Values";
import { VehicleActs } from "./VehicleActs";
import "./vehicle.css";

/** A vehicle beside the map: what it does, where, and what can be done with it. */
export function VehiclePanel({ id }: { id: number }) {
  const details = useLoaded(`device ${id}`, (signal) => loadDevice(id, signal));
  const found = device(id).value;
  const image = found && imageOf(found);
  const acts = vehicleActs();
  const back = () => go(withQuery("/fleet", location.value.query));
  const toAct = (key: string) => () => {
    const act = acts.find((each) => each.key === key);
    if (act) go(act.to(id));
    return act !== undefined;
  };
  useKeys("vehicle", { back, live: toAct("live"), history: toAct("history"), command: toAct("commands") });
  const missing = details.problem instanceof Refused && details.problem.status === 404;
  return (
    <aside class="vehicle-panel" aria-label={t("vehicle.panel")}>
      <header>
        {image && <img class="vehicle-image" src={image} alt="" />}
        <h1 tabIndex={-1}>{found?.name ?? (missing ? t("vehicle.panel") : "\u00a0")}</h1>
        <button
          type="button"
          class="icon-button"
          aria-label={t("vehicle.close")}
          title={t("vehicle.close")}
          onClick={back}
        >
          <Icon name="close" />
        </button>
      </header>
      {!found && missing && <Empty icon="pin" title={t("vehicle.missing")} />}
      {!found && details.problem !== null && !missing && (
        <Problem problem={details.problem} onRetry={details.reload} />
      )}
      {!found && details.problem === null && <Skeleton label={t("common.loading")} lines={5} />}
      {found && (
        <Facts of={found} at={position(id).value}>
          <OpenAlarms id={id} />
          <VehicleActs of={found} at={position(id).value} />
        </Facts>
      )}
    </aside>
  );
}

interface FactsProps {
  of: Device;
  at: Position | undefined;
  /** Only what it does and where, for guests of a share link. */
  brief?: boolean;
  /** What can be done with it. */
  children?: ComponentChildren;
}

/** What a vehicle does, where, and what is known of it. */
export function Facts({ of, at, brief = false, children }: FactsProps) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const group = groups.value?.find((each) => each.id === of.groupId);
  const state = vehicleState(of, at, now.value);
  const moving = state === "moving";
  const motion = useMotion(of.id).value;
  const isOf = motion && (motion.moving ? moving : state === "standing");
  const since = isOf ? Date.parse(motion.since) : null;
  const place = usePlace(of.id);
  return (
    <>
      <p class="vehicle-state">
        <StatusMark of={of} at={at} />
        {at && moving && <strong>{speed(at.speed, style.value)}</strong>}
        {since !== null && (
          <span class="vehicle-since" title={`${dateTime(since, style.value)} · ${utc(since)}`}>
            {t("fleet.for", { span: duration(now.value - since, style.value) })}
          </span>
        )}
        {(state === "silent" || state === "offline") && (
          <span class="vehicle-since">{lastHeard(of, at, now.value, style.value)}</span>
        )}
        {of.disabled && <span class="badge">{t("vehicle.disabled")}</span>}
      </p>
      {hasPlace(at) && (
        <p class="vehicle-where">
          <Icon name="pin" size={16} />
          <span translate={false}>{place ?? "\u00a0"}</span>
        </p>
      )}
      {children}
      <dl class="facts">
        {at && <PlaceFacts at={at} moving={moving} place={place} />}
        {!at && loaded.value && (
          <div>
            <dt>{t("vehicle.place")}</dt>
            <dd>{t("fleet.noPlace")}</dd>
          </div>
        )}
        <Fact label={t("vehicle.lastReport")} instant={of.lastUpdate} />
        {!brief && (
          <>
            <Fact label={t("vehicle.number")} text={of.uniqueId} />
            <Fact label={t("vehicle.group")} text={group?.name ?? null} />
            <Fact label={t("vehicle.model")} text={of.model} />
            <Fact label={t("vehicle.phone")} text={of.phone} />
            <Fact label={t("vehicle.contact")} text={of.contact} />
          </>
        )}
      </dl>
      {!brief && <NewestEvents id={of.id} />}
      {at && !brief && <Values of={at} />}
    </>
  );
}

function PlaceFacts({ at, moving, place }: { at: Position; moving: boolean; place: string | null }) {
  const text = coordinates(at.latitude, at.longitude, style.value);
  return (
    <>
      {!hasPlace(at) && <Fact label={t("vehicle.place")} text={t("fleet.noFix")} />}
      {hasPlace(at) && (
        <>
          {at.address !== place && <Fact label={t("vehicle.address")} text={at.address} />}
          <div>
            <dt>{t("vehicle.coordinates")}</dt>
            <dd>
              {text}
              <button
                type="button"
                class="icon-button small"
                aria-label={t("vehicle.copyPlace")}
                title={t("vehicle.copyPlace")}
                onClick={() => copy(text)}
              >
                <Icon name="copy" size={16} />
              </button>
              {!at.valid && <span class="badge">{t("vehicle.invalid")}</span>}
            </dd>
          </div>
        </>
      )}
      {moving && (
        <Fact
          label={t("vehicle.course")}
          text={`${t(`compass.${compassPoint(at.course)}`)} · ${Math.round(at.course)}°`}
        />
      )}
      {at.altitude !== 0 && <Fact label={t("vehicle.altitude")} text={altitude(at.altitude, style.value)} />}
      <Fact label={t("vehicle.fix")} instant={at.fixTime} />
    </>
  );
}

function Fact({ label, text, instant }: { label: string; text?: string | null; instant?: string | null }) {
  if (instant) {
    const at = Date.parse(instant);
    return (
      <div>
        <dt>{label}</dt>
        <dd>
          <time dateTime={instant} title={utc(at)}>
            {dateTime(at, style.value)}
          </time>
          <Age of={at} />
        </dd>
      </div>
    );
  }
  if (!text) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>{text}</dd>
    </div>
  );
}

function Age({ of }: { of: number }) {
  const age = now.value - of;
  const text = age < 2000 ? t("common.justNow") : t("common.ago", { span: duration(age, style.value) });
  return <small>{text}</small>;
}
