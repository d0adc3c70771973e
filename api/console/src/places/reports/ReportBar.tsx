import { useEffect, useState } from "preact/hooks";
import type { Group as VehicleGroup } from "../../api/types";
import { t } from "../../i18n/translate";
import { Check, Field, Select } from "../../parts/Field";
import { FilterBar } from "../../parts/FilterBar";
import type { Pick } from "../../parts/Picker";
import { TimeField } from "../../parts/TimeField";
import { ManyPicker } from "../../records/ManyPicker";
import { read } from "../../state/responseCache";
import { style } from "../../state/session";
import { vehicleChoices } from "../../state/vehicleChoices";
import { useZones } from "../../state/zones";
import { kindChoices } from "../events/kinds";
import { type Group, kindOf, type Names } from "./kinds";
import { numericAttributes } from "./numericAttributes";
import { AGAINST, type Against, type Asked, LEAST_RADIUS, MOST_RADIUS } from "./query";

interface ReportBarProps {
  asked: Asked;
  names: Names;
  /** The instant that `now` means. */
  at: number;
  onAsk: (change: Partial<Asked>) => void;
}

/** Who, when, and what else a report is asked for. */
export function ReportBar({ asked, names, at, onAsk }: ReportBarProps) {
  const kind = kindOf(asked.kind);
  const groups = useGroups();
  const has = new Set(kind.options);
  const set = [asked.deviceIds, asked.groupIds].flat().length + Number(asked.against !== null);
  return (
    <FilterBar
      count={set}
      class="report-bar"
      lead={
        asked.kind !== "devices" && (
          <TimeField
            label={t("report.when")}
            value={asked.span}
            now={at}
            style={style.value}
            onSpan={(span) => onAsk({ span })}
          />
        )
      }
    >
      <ManyPicker
        label={t("report.vehicles")}
        items={vehicleChoices(asked.deviceIds)}
        values={asked.deviceIds}
        none={t(asked.groupIds.length > 0 ? "report.noVehicles" : "report.allVehicles")}
        disabled={false}
        onChange={(ids) => onAsk({ deviceIds: ids })}
      />
      <ManyPicker
        label={t("report.groups")}
        items={groups}
        values={asked.groupIds}
        none={t("report.noGroups")}
        disabled={false}
        onChange={(ids) => onAsk({ groupIds: ids })}
      />
      {has.has("zones") && <ZonesPicker asked={asked} onAsk={onAsk} />}
      {has.has("kinds") && (
        <ManyPicker
          label={t("report.kinds")}
          items={kindChoices()}
          values={asked.kinds}
          none={t("report.allKinds")}
          disabled={false}
          onChange={(kinds) => onAsk({ kinds })}
        />
      )}
      {has.has("attributes") && (
        <ManyPicker
          label={t("report.sensors")}
          items={numericAttributes(names)}
          values={asked.attributes}
          none={t("report.sensorsWithLimits")}
          disabled={false}
          onChange={(attributes) => onAsk({ attributes })}
        />
      )}
      {has.has("place") && <PlaceFields key={JSON.stringify(asked.place)} asked={asked} onAsk={onAsk} />}
      {has.has("daily") && (
        <Check label={t("report.daily")} checked={asked.daily} onChange={(daily) => onAsk({ daily })} />
      )}
      {kind.groups.length > 0 && (
        <Select
          label={t("report.groupBy")}
          value={asked.group ?? ""}
          choices={[
            { value: "", label: t("report.ungrouped") },
            ...kind.groups.map((group) => ({ value: group, label: t(`report.by.${group}`) })),
          ]}
          onChange={(group) => onAsk({ group: (group || null) as Group | null })}
        />
      )}
      {kind.compared.length > 0 && (
        <Select
          label={t("report.against")}
          value={asked.against ?? ""}
          choices={[
            { value: "", label: t("report.against.none") },
            ...AGAINST.map((against) => ({ value: against, label: t(`report.against.${against}`) })),
          ]}
          onChange={(against) => onAsk({ against: (against || null) as Against | null })}
        />
      )}
    </FilterBar>
  );
}

/** The groups of the reader; none until they are there. */
export function useGroups(): readonly Pick[] {
  const [groups, setGroups] = useState<readonly VehicleGroup[]>([]);
  useEffect(() => {
    let isGone = false;
    read<VehicleGroup[]>("/groups").then(
      (found) => {
        if (!isGone) setGroups(found);
      },
      // Without groups vehicles can still be chosen.
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, []);
  return groups;
}

function ZonesPicker({ asked, onAsk }: Part) {
  const zones = useZones() ?? [];
  return (
    <ManyPicker
      label={t("report.zones")}
      items={zones}
      values={asked.zoneIds}
      none={t("report.noZones")}
      disabled={false}
      onChange={(zoneIds) => onAsk({ zoneIds })}
    />
  );
}

type Part = { asked: Asked; onAsk: (change: Partial<Asked>) => void };

/** A place by its coordinates; pressing the map fills them too. */
function PlaceFields({ asked, onAsk }: Part) {
  const [latitude, setLatitude] = useState(asked.place ? asked.place.latitude.toFixed(6) : "");
  const [longitude, setLongitude] = useState(asked.place ? asked.place.longitude.toFixed(6) : "");
  const [radius, setRadius] = useState(`${asked.radius}`);
  const numbers = [latitude, longitude, radius].map((each) =>
    each.trim() === "" ? Number.NaN : Number(each),
  );
  const [north = 0, east = 0, meters = 0] = numbers;
  const isGood =
    Math.abs(north) <= 90 && Math.abs(east) <= 180 && meters >= LEAST_RADIUS && meters <= MOST_RADIUS;
  return (
    <form
      class="report-place"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) onAsk({ place: { latitude: north, longitude: east }, radius: meters });
      }}
    >
      <Field
        label={t("report.latitude")}
        inputMode="decimal"
        value={latitude}
        onInput={(event) => setLatitude(event.currentTarget.value)}
      />
      <Field
        label={t("report.longitude")}
        inputMode="decimal"
        value={longitude}
        onInput={(event) => setLongitude(event.currentTarget.value)}
      />
      <Field
        label={t("report.radius")}
        type="number"
        min={LEAST_RADIUS}
        max={MOST_RADIUS}
        value={radius}
        onInput={(event) => setRadius(event.currentTarget.value)}
      />
      <button type="submit" disabled={!isGood}>
        {t("report.ask")}
      </button>
    </form>
  );
}
