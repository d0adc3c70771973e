import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { location } from "../../router";
import { deviceNow, loaded } from "../../state/fleet";
import { VehiclePanel } from "../vehicle/VehiclePanel";
import { FleetList } from "./FleetList";
import { FleetMap } from "./FleetMap";
import "./fleet.css";

/** Map and list of all vehicles, with the panel of the one that is open. */
export default function Fleet({ params }: { params: Record<string, string> }) {
  const id = chosenId(params.id);
  useEffect(() => {
    const name = loaded.value && id ? deviceNow(id)?.name : undefined;
    document.title = `${name ?? t("fleet.title")} · Motorpool`;
  }, [id, loaded.value]);
  const { path } = location.value;
  return (
    <div class={id === null ? "fleet" : "fleet with-vehicle"} data-path={path}>
      <FleetList chosen={id} />
      <FleetMap />
      {id !== null && <VehiclePanel key={id} id={id} />}
    </div>
  );
}

function chosenId(text: string | undefined): number | null {
  const id = Number(text);
  return text && Number.isInteger(id) && id > 0 ? id : text ? 0 : null;
}
