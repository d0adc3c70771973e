import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { changed, deviceIds, loaded, snapshot } from "../../state/fleet";
import { may } from "../../state/session";
import { isPlace } from "../events/proof";
import { NoVehicles } from "./NoVehicles";

/** A fleet of more vehicles was set up before. */
const MOST_VEHICLES = 3;

const STEPS = ["login", "vehicle", "server", "report", "map"] as const;

/** How many of the steps are done: up to the first vehicle that is seen on the map. */
export function stepsDone(fleet: ReturnType<typeof snapshot>): number {
  if (fleet.length === 0) return 1;
  if (fleet.some(({ position }) => position && isPlace(position))) return STEPS.length;
  if (fleet.some(({ position }) => position)) return 4;
  return fleet.some(({ device }) => device.lastUpdate) ? 3 : 2;
}

/** What leads from an empty fleet to the first vehicle on the map; nothing once one is there. */
export function FirstSteps() {
  changed.value;
  if (!loaded.value || deviceIds.value.length > MOST_VEHICLES) return null;
  const fleet = snapshot();
  const done = stepsDone(fleet);
  if (done === STEPS.length) return null;
  if (!may("addDevices")) return fleet.length === 0 ? <NoVehicles /> : null;
  const first = fleet[0]?.device;
  return (
    <Empty icon="car" title={t(first ? "fleet.firstSteps" : "fleet.empty")} text={t("fleet.firstStepsText")}>
      <ol class="first-steps">
        {STEPS.map((step, index) => (
          <li
            key={step}
            class={index < done ? "done" : ""}
            aria-current={index === done ? "step" : undefined}
          >
            <Icon name={index < done ? "check" : "circle"} size={16} />
            <span>
              {t(`fleet.step.${step}`)}
              {index < done && <span class="hidden"> ({t("fleet.step.done")})</span>}
            </span>
          </li>
        ))}
      </ol>
      <Link class="button primary" to={first ? `/connect?deviceId=${first.id}` : "/connect"}>
        {first ? t("fleet.waitFor", { name: first.name }) : t("fleet.connect")}
      </Link>
    </Empty>
  );
}
