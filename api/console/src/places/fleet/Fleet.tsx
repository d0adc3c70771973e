import { useEffect, useLayoutEffect } from "preact/hooks";
import type { Group } from "../../api/types";
import { t } from "../../i18n/translate";
import { location } from "../../router";
import { deviceNow, loaded } from "../../state/fleet";
import { read, useLoaded } from "../../state/responseCache";
import { ListStage } from "../map/ListDrawer";
import { VehiclePanel } from "../vehicle/VehiclePanel";
import { FleetList } from "./FleetList";
import { FleetMap } from "./FleetMap";
import { filtersOf } from "./filters";
import { drawerOpen, listSize, setDrawer, setListSize, showList } from "./listSize";
import { SheetHandle } from "./SheetHandle";
import { useFilteredVehicles } from "./useFilteredVehicles";
import "./fleet.css";

/** Map and list of all vehicles, with the panel of the one that is open. */
export default function Fleet({ params }: { params: Record<string, string> }) {
  const id = chosenId(params.id);
  useEffect(() => {
    const name = loaded.value && id ? deviceNow(id)?.name : undefined;
    document.title = `${name ?? t("fleet.title")} · Motorpool`;
  }, [id, loaded.value]);
  const groups =
    useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true })).value ?? null;
  const found = useFilteredVehicles(filtersOf(location.value.query), groups);
  // Who opens a vehicle wants to see it on the map, and comes back to the list.
  useLayoutEffect(() => {
    setDrawer(id === null);
    if (id !== null && listSize.peek() === "wide") setListSize("open");
  }, [id]);
  const classes = ["fleet", "with-drawer", `list-${listSize.value}`];
  if (drawerOpen.value) classes.push("drawer-open");
  if (id !== null) classes.push("with-vehicle");
  return (
    <div class={classes.join(" ")}>
      {id === null && <h1 class="hidden">{t("fleet.title")}</h1>}
      <FleetList chosen={id} found={found.ids} counts={found.counts} groups={groups} />
      <ListStage label={t("fleet.vehicles")} onShow={showList}>
        <FleetMap chosen={id} found={found.ids} />
      </ListStage>
      <SheetHandle />
      {id !== null && <VehiclePanel key={id} id={id} />}
    </div>
  );
}

function chosenId(text: string | undefined): number | null {
  const id = Number(text);
  return text && Number.isInteger(id) && id > 0 ? id : text ? 0 : null;
}
