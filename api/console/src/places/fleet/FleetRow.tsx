import type { Device, DeviceMotion, Group, Position } from "../../api/types";
import { dateTime, duration, shortTime, utc } from "../../format/times";
import { speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { device, position } from "../../state/fleet";
import { useMotion } from "../../state/motion";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { WaitingMark } from "../events/WaitingMark";
import { StatusShape } from "../vehicle/StatusMark";
import { type Column, columns, columnText, haveLine } from "./columns";
import { hasPlace, isMoving } from "./filters";

const ROW_HEIGHT = 56;
const LINE_HEIGHT = 18;

/** Pixels of a row with these columns. */
export function rowHeight(shown: readonly Column[]): number {
  return haveLine(shown) ? ROW_HEIGHT + LINE_HEIGHT : ROW_HEIGHT;
}

interface FleetRowProps {
  id: number;
  to: string;
  chosen: boolean;
  /** Where the arrows are. */
  current: boolean;
  groups: readonly Group[] | null;
  onMenu: (x: number, y: number) => void;
}

/** A vehicle: status, name, what it does and since when it was last heard of. */
export function FleetRow({ id, to, chosen, current, groups, onMenu }: FleetRowProps) {
  const found = device(id).value;
  const place = position(id).value;
  const motion = useMotion(id);
  if (!found) return null;
  const moving = found.status === "online" && isMoving(place);
  const kind = moving ? "moving" : found.status;
  return (
    <div class={`fleet-row${chosen ? " chosen" : ""}${current ? " current" : ""}`}>
      <Link
        to={to}
        class="fleet-row-link"
        aria-current={chosen ? "true" : undefined}
        onContextMenu={(event) => {
          event.preventDefault();
          onMenu(event.clientX, event.clientY);
        }}
      >
        <StatusShape status={kind} />
        <span class="fleet-row-name">{found.name}</span>
        <Report of={found} />
        <span class="fleet-row-state">
          <WaitingMark id={id} />
          {stateOf(found, place, kind, motion.value)}
        </span>
        <Columns of={found} at={place} groups={groups} />
      </Link>
      <button
        type="button"
        class="icon-button"
        aria-label={t("fleet.menu", { name: found.name })}
        aria-haspopup="menu"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          onMenu(box.left, box.bottom);
        }}
      >
        <Icon name="more" size={18} />
      </button>
    </div>
  );
}

interface ColumnsProps {
  of: Device;
  at: Position | undefined;
  groups: readonly Group[] | null;
}

function Columns({ of, at, groups }: ColumnsProps) {
  const shown = columns.value;
  if (!haveLine(shown)) return shown.length > 0 ? <span class="fleet-row-number">{of.uniqueId}</span> : null;
  const texts = shown.map((each) => columnText(each, of, at, groups)).filter(Boolean);
  return <span class="fleet-row-columns">{texts.join(" · ")}</span>;
}

function Report({ of }: { of: Device }) {
  if (!of.lastUpdate) return <span class="fleet-row-time">{t("fleet.neverReported")}</span>;
  const at = Date.parse(of.lastUpdate);
  return (
    <time class="fleet-row-time" dateTime={of.lastUpdate} title={`${dateTime(at, style.value)} · ${utc(at)}`}>
      {shortTime(at, now.value, style.value)}
    </time>
  );
}

function stateOf(
  found: Device,
  place: Position | undefined,
  kind: string,
  since: DeviceMotion | undefined,
): string {
  const word = t(
    kind === "moving"
      ? "fleet.moving"
      : kind === "online"
        ? "status.online"
        : kind === "offline"
          ? "status.offline"
          : "status.unknown",
  );
  if (!found.lastUpdate) return word;
  if (!place) return `${word} · ${t("fleet.noPlace")}`;
  if (!place.valid || !hasPlace(place)) return `${word} · ${t("fleet.noFix")}`;
  if (kind === "moving") return `${word} · ${speed(place.speed, style.value)}`;
  if (found.status === "online") return standing(since);
  return `${word} · ${t("common.ago", { span: duration(now.value - Date.parse(found.lastUpdate), style.value) })}`;
}

/** A stop is known only some minutes after it began; until then there is no time to tell. */
function standing(since: DeviceMotion | undefined): string {
  if (!since || since.moving) return t("fleet.standing");
  return t("fleet.standingFor", { span: duration(now.value - Date.parse(since.since), style.value) });
}
