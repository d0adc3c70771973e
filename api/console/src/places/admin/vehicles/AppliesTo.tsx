import { useState } from "preact/hooks";
import { get, post, remove } from "../../../api/call";
import type { Group } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Problem, sentenceOf } from "../../../parts/Problem";
import { ManyPicker } from "../../../records/ManyPicker";
import { read, useLoaded } from "../../../state/responseCache";
import { vehicleChoices } from "../../../state/vehicleChoices";

export type PropertyKey = "driverId" | "maintenanceId" | "orderId" | "attributeId" | "commandId";
type Link = Record<string, number>;

interface AppliesToProps {
  property: PropertyKey;
  id: number;
}

/** The links of devices and groups to a record. */
export async function linksOf(
  property: PropertyKey,
  id: number,
  signal?: AbortSignal,
): Promise<readonly Link[]> {
  const [devices, groups] = await Promise.all(
    ["deviceId", "groupId"].map((owner) =>
      get<Link[]>("/permissions", { [owner]: 0, [property]: id }, signal),
    ),
  );
  return [...(devices ?? []), ...(groups ?? [])];
}

/** Which vehicles and groups a record is for; a change is saved at once. */
export function AppliesTo({ property, id }: AppliesToProps) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const { value, problem, reload } = useLoaded(`links ${property} ${id}`, (signal) =>
    linksOf(property, id, signal),
  );
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const items = [
    ...(groups.value ?? []).map((each) => ({
      id: `groupId ${each.id}`,
      name: each.name,
      note: t("vehicle.group"),
    })),
    ...vehicleChoices((value ?? []).flatMap((link) => link.deviceId ?? [])).map((each) => ({
      ...each,
      id: `deviceId ${each.id}`,
    })),
  ];
  const values = (value ?? []).map((link) =>
    link.groupId ? `groupId ${link.groupId}` : `deviceId ${link.deviceId}`,
  );

  async function change(next: readonly string[]) {
    const added = next.filter((each) => !values.includes(each)).map(linkOf);
    const gone = values.filter((each) => !next.includes(each)).map(linkOf);
    setBusy(true);
    setSaid("");
    try {
      for (const link of added) await post("/permissions", link);
      for (const link of gone) await remove("/permissions", link);
    } catch (reason) {
      setSaid(sentenceOf(reason));
    }
    setBusy(false);
    reload();
  }

  const linkOf = (key: string): Link => {
    const [owner = "", number] = key.split(" ");
    return { [owner]: Number(number), [property]: id };
  };
  if (problem !== null) return <Problem problem={problem} onRetry={reload} />;
  return (
    <ManyPicker
      label={t("vehicles.appliesTo")}
      items={items}
      values={values}
      none={t("vehicles.appliesToNone")}
      error={said || undefined}
      disabled={busy || !value}
      onChange={(next) => void change(next)}
    />
  );
}
