/** Events as they arrive, over whatever place is open (docs/events.md#notificators: those for `web`). */

import { effect, untracked } from "@preact/signals";
import type { Event } from "../../api/types";
import { t } from "../../i18n/translate";
import { toast } from "../../parts/Toast";
import { go, match } from "../../router";
import { routes } from "../../routes";
import { recentEvents } from "../../state/events";
import { deviceNow } from "../../state/fleet";

/** Show each event that arrives from now on. */
export function announceEvents(): void {
  let newest = recentEvents.peek()[0];
  effect(() => {
    const events = recentEvents.value;
    const known = newest ? events.findIndex((event) => event.id === newest?.id) : -1;
    const added = events.slice(0, known < 0 ? events.length : known).reverse();
    newest = events[0];
    untracked(() => added.forEach(announce));
  });
}

/** Go to the newest alarm; false if there is none. */
export function openNewestAlarm(): boolean {
  const alarm = recentEvents.peek().find((event) => event.type === "alarm");
  if (alarm) openEvent(alarm);
  return alarm !== undefined;
}

function announce(event: Event): void {
  const name = deviceNow(event.deviceId)?.name ?? "";
  const alarm = event.type === "alarm";
  const { message } = event.attributes;
  const text = typeof message === "string" ? message : t(alarm ? "frame.alarm" : "frame.event", { name });
  toast(text, alarm ? "alarm" : "good", { label: t("frame.show"), run: () => openEvent(event) });
}

function openEvent(event: Event): void {
  const proof = `/events/${event.id}`;
  go(routes.some((route) => match(route.pattern, proof)) ? proof : `/vehicles/${event.deviceId}`);
}
