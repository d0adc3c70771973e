/** The ways that notifications go out by, and what each notification is restricted to. */

import type { Notification } from "../api/types";
import { alarmName, parts } from "../format/alarms";
import { hasText, t } from "../i18n/translate";

/** `E-mail`; a notificator that the page does not know is shown as it is. */
export function channelName(name: string): string {
  const key = `notification.by.${name}`;
  return hasText(key) ? t(key) : name;
}

/** The notificators of a notification, each once. */
export function channelsOf({ notificators }: Pick<Notification, "notificators">): readonly string[] {
  return [...new Set(notificators.split(",").map((name) => name.trim()))].filter(Boolean);
}

/** The notification as it goes out by other ways; the switches follow the list. */
export function withChannels<T extends Notification>(notification: T, names: readonly string[]): T {
  return {
    ...notification,
    notificators: names.join(","),
    web: names.includes("web"),
    mail: names.includes("mail"),
    sms: names.includes("sms"),
  };
}

/** A list that an attribute holds with commas between, such as of alarms. */
export function listOf(value: unknown): readonly string[] {
  return typeof value === "number" ? [String(value)] : parts(value);
}

/** `Overspeed warning`: the alarms that a notification is limited to. */
export function alarmNames({ attributes }: Pick<Notification, "attributes">): readonly string[] {
  return listOf(attributes.alarms).map(alarmName);
}
