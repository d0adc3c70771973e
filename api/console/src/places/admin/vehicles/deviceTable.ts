/** What the table of all vehicles shows of a device, and which of them a search leaves. */

import type { Device, Driver, Group, Position } from "../../../api/types";
import type { Style } from "../../../format/style";
import { dateTime } from "../../../format/times";
import { hasText, t } from "../../../i18n/translate";
import type { Column } from "../../../parts/tableItems";
import { ARCHIVED, isArchived, position } from "../../../state/fleet";
import { vehicleState } from "../../fleet/vehicleState";

export const STANDARD: readonly string[] = [
  "name",
  "uniqueId",
  "model",
  "group",
  "status",
  "lastUpdate",
  "use",
];

export type Use = "active" | "disabled" | "expired" | "archived";
export const USES: readonly Use[] = ["active", "disabled", "expired", "archived"];

/** Whether a device may report, and why not. */
export function useOf(device: Device, now: number): Use {
  if (isArchived(device)) return "archived";
  if (device.disabled) return "disabled";
  if (device.expirationTime && Date.parse(device.expirationTime) <= now) return "expired";
  return "active";
}

export interface Filter {
  keyword: string;
  /** 0: without a group; null: any. */
  groupId: number | null;
  /** Empty: all but archived ones. */
  use: Use | "" | "all";
}

/** The devices that a filter leaves; all words of the search are in what the columns say of one. */
export function filtered(devices: readonly Device[], filter: Filter, now: number): readonly Device[] {
  const words = filter.keyword.toLowerCase().split(/\s+/).filter(Boolean);
  return devices.filter((device) => {
    const use = useOf(device, now);
    if (filter.use === "" ? use === "archived" : filter.use !== "all" && use !== filter.use) return false;
    if (filter.groupId !== null && device.groupId !== filter.groupId) return false;
    if (words.length === 0) return true;
    const { name, uniqueId, model, phone, contact, category } = device;
    const text = [name, uniqueId, model, phone, contact, category].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The attributes that devices have, by name; many have the same ones. */
export function attributesOf(devices: readonly Device[]): readonly string[] {
  const keys = new Set<string>();
  for (const device of devices) for (const key of Object.keys(device.attributes)) keys.add(key);
  keys.delete(ARCHIVED);
  return [...keys].sort();
}

interface Known {
  groups: ReadonlyMap<number, Group>;
  /** By the identifiers that devices report. */
  drivers: ReadonlyMap<string, Driver>;
  style: Style;
  now: number;
}

/** All columns that can be chosen, the attributes last. */
export function columnsOf(known: Known, attributes: readonly string[]): readonly Column<Device>[] {
  const { groups, drivers, style, now } = known;
  const at = (device: Device): Position | undefined => position(device.id).value;
  const driver = (device: Device) => {
    const key = at(device)?.attributes.driverUniqueId;
    return typeof key === "string" ? (drivers.get(key)?.name ?? key) : "";
  };
  return [
    { key: "name", label: t("settings.name"), width: 12, value: ({ name }) => name },
    { key: "uniqueId", label: t("settings.uniqueId"), width: 10, value: ({ uniqueId }) => uniqueId },
    { key: "model", label: t("vehicle.model"), width: 8, value: ({ model }) => model },
    {
      key: "group",
      label: t("vehicle.group"),
      width: 9,
      value: ({ groupId }) => (groupId ? (groups.get(groupId)?.name ?? `#${groupId}`) : ""),
    },
    {
      key: "status",
      label: t("vehicles.status"),
      width: 7,
      value: (device) => t(`status.${vehicleState(device, at(device), now)}`),
    },
    {
      key: "lastUpdate",
      label: t("vehicles.lastUpdate"),
      width: 10,
      value: ({ lastUpdate }) => (lastUpdate ? Date.parse(lastUpdate) : null),
      cell: ({ lastUpdate }) => (lastUpdate ? dateTime(Date.parse(lastUpdate), style) : ""),
    },
    {
      key: "use",
      label: t("vehicles.use"),
      width: 7,
      value: (device) => t(`vehicles.use.${useOf(device, now)}`),
    },
    {
      key: "category",
      label: t("settings.category"),
      width: 7,
      value: ({ category }) => categoryName(category),
    },
    { key: "phone", label: t("vehicle.phone"), width: 9, value: ({ phone }) => phone },
    { key: "contact", label: t("vehicle.contact"), width: 9, value: ({ contact }) => contact },
    { key: "driver", label: t("vehicles.driver"), width: 9, value: driver },
    { key: "protocol", label: t("vehicles.protocol"), width: 7, value: (device) => at(device)?.protocol },
    {
      key: "expirationTime",
      label: t("settings.expires"),
      width: 10,
      value: ({ expirationTime }) => (expirationTime ? Date.parse(expirationTime) : null),
      cell: ({ expirationTime }) => (expirationTime ? dateTime(Date.parse(expirationTime), style) : ""),
    },
    { key: "id", label: t("vehicles.id"), width: 5, numeric: true, value: ({ id }) => id },
    ...attributes.map(
      (name): Column<Device> => ({
        key: `attributes.${name}`,
        label: name,
        value: (device) => attributeValue(device.attributes[name]),
      }),
    ),
  ];
}

/** What icon a category means, in words. */
export function categoryName(category: string | null): string {
  const key = `settings.category.${category}`;
  return category ? (hasText(key) ? t(key) : category) : "";
}

function attributeValue(value: unknown): string | number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "number") return value;
  return JSON.stringify(value);
}
