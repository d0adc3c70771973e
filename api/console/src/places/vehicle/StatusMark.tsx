import type { Device, Position } from "../../api/types";
import { t } from "../../i18n/translate";
import { now } from "../../time/clock";
import { type VehicleState, vehicleState } from "../fleet/vehicleState";

interface StatusMarkProps {
  of: Pick<Device, "status" | "lastUpdate">;
  at: Position | undefined;
}

/** The state of a vehicle as color, shape and word; what it means is told to those who point at it. */
export function StatusMark({ of, at }: StatusMarkProps) {
  const state = vehicleState(of, at, now.value);
  return (
    <span class={`status ${state}`} title={t(`status.about.${state}`)}>
      <StatusShape state={state} />
      {t(`status.${state}`)}
    </span>
  );
}

/** Moving a triangle, standing a dot, offline a square, a ring for what has not been heard of. */
export function StatusShape({ state }: { state: VehicleState }) {
  return (
    <svg
      class={`status-shape ${state}`}
      width={10}
      height={10}
      viewBox="0 0 10 10"
      role="img"
      aria-hidden={true}
    >
      {state === "moving" && <path d="M1 0.5L9.5 5L1 9.5z" />}
      {(state === "standing" || state === "online") && <circle cx={5} cy={5} r={4} />}
      {state === "offline" && <rect x={1} y={1} width={8} height={8} />}
      {(state === "silent" || state === "never") && <circle class="ring" cx={5} cy={5} r={3.5} />}
    </svg>
  );
}
