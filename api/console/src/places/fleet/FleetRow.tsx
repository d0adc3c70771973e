import type { Device, Group, Position } from "../../api/types";
import { dateTime, shortTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { device, position } from "../../state/fleet";
import { useMotion } from "../../state/onScreen";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { WaitingMark } from "../events/WaitingMark";
import { StatusShape } from "../vehicle/StatusMark";
import { type Column, columns, columnText } from "./columns";
import { usePlace } from "./place";
import { stateText } from "./stateText";
import { vehicleState } from "./vehicleState";

const ROW_HEIGHT = 56;
const LINE_HEIGHT = 18;

/** Pixels of a row with these columns. */
export function rowHeight(shown: readonly Column[]): number {
  return shown.length > 0 ? ROW_HEIGHT + LINE_HEIGHT : ROW_HEIGHT;
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
  const at = position(id).value;
  const motion = useMotion(id).value;
  const place = usePlace(id);
  if (!found) return null;
  const state = stateText({ device: found, position: at, motion, now: now.value, style: style.value });
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
        <StatusShape state={vehicleState(found, at, now.value)} />
        <span class="fleet-row-name">{found.name}</span>
        <Report of={found} />
        <span class="fleet-row-state">
          <WaitingMark id={id} />
          {state}
          {place && <span translate={false}> · {place}</span>}
        </span>
        <Columns of={found} at={at} groups={groups} />
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
  if (shown.length === 0) return null;
  const texts = shown.map((each) => columnText(each, of, at, groups)).filter(Boolean);
  return <span class="fleet-row-columns">{texts.join(" · ")}</span>;
}

function Report({ of }: { of: Device }) {
  if (!of.lastUpdate) return null;
  const at = Date.parse(of.lastUpdate);
  return (
    <time class="fleet-row-time" dateTime={of.lastUpdate} title={`${dateTime(at, style.value)} · ${utc(at)}`}>
      {shortTime(at, now.value, style.value)}
    </time>
  );
}
