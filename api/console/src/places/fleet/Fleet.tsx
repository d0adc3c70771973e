import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { deviceNow, loaded } from "../../state/fleet";
import { VehiclePanel } from "../vehicle/VehiclePanel";
import { FleetList } from "./FleetList";
import { FleetMap } from "./FleetMap";
import { listSize, setListSize } from "./listSize";
import "./fleet.css";

/** Map and list of all vehicles, with the panel of the one that is open. */
export default function Fleet({ params }: { params: Record<string, string> }) {
  const id = chosenId(params.id);
  useEffect(() => {
    const name = loaded.value && id ? deviceNow(id)?.name : undefined;
    document.title = `${name ?? t("fleet.title")} · Motorpool`;
  }, [id, loaded.value]);
  const classes = ["fleet", `list-${listSize.value}`, ...(id === null ? [] : ["with-vehicle"])];
  return (
    <div class={classes.join(" ")}>
      <FleetList chosen={id} />
      <div class="fleet-stage">
        <FleetMap />
        {listSize.value === "folded" && (
          <button type="button" class="fleet-unfold" onClick={() => setListSize("open")}>
            <Icon name="list" size={18} />
            {t("fleet.vehicles")}
          </button>
        )}
      </div>
      {id !== null && <VehiclePanel key={id} id={id} />}
    </div>
  );
}

function chosenId(text: string | undefined): number | null {
  const id = Number(text);
  return text && Number.isInteger(id) && id > 0 ? id : text ? 0 : null;
}
