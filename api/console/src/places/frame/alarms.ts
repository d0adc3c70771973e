/** Events as they arrive, over whatever place is open (docs/events.md#notificators: those for `web`). */

import { effect, untracked } from "@preact/signals";
import { get } from "../../api/call";
import type { Event } from "../../api/types";
import { loadAttributeWords } from "../../format/attributeWords";
import { hasText, t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { go } from "../../router";
import { recentEvents } from "../../state/events";
import { deviceNow } from "../../state/fleet";
import { isShown, isUrgent, notices } from "../../state/notices";
import { waiting } from "../../state/reviews";
import { may, style } from "../../state/session";
import { zones } from "../../state/zones";
import { eventText } from "../events/eventText";
import { review } from "../events/reviewing";
import { playAlarm } from "./sound";
import { notifySystem } from "./systemNotice";

/** More events at once than these are one notice. */
const FEW = 3;
/** How far back the newest alarm is looked for: what `GET /events` lists at most. */
const BACK_MS = 31 * 86_400_000;

/** Show each event that arrives from now on. */
export function announceEvents(): void {
  let newest = recentEvents.peek()[0];
  effect(() => {
    const events = recentEvents.value;
    const known = newest ? events.findIndex((event) => event.id === newest?.id) : -1;
    const added = events.slice(0, known < 0 ? events.length : known).reverse();
    newest = events[0];
    untracked(() => announce(added));
  });
}

/** Go to the most severe event that waits, else to the newest alarm: that arrived, else that the server knows. */
export function openNewestAlarm(): boolean {
  const alarm = waiting.peek()[0] ?? recentEvents.peek().find((event) => event.type === "alarm");
  if (alarm) openEvent(alarm);
  else if (may("reports")) findNewestAlarm().catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
  else return false;
  return true;
}

async function findNewestAlarm(): Promise<void> {
  const now = Date.now();
  const [from, to] = [now - BACK_MS, now].map((instant) => new Date(instant).toISOString());
  const [alarm] = await get<Event[]>("/events", { type: "alarm", from, to, limit: 1 });
  if (alarm) openEvent(alarm);
  else toast(t("event.noAlarm"));
}

function announce(added: readonly Event[]): void {
  const chosen = notices();
  const shown = added.filter((event) => isShown(event, chosen));
  const urgent = shown.filter((event) => isUrgent(event, chosen));
  if (chosen.sound && urgent.length > 0) playAlarm();
  if (chosen.system)
    for (const event of urgent.slice(0, FEW)) notifySystem(textOf(event), () => openEvent(event));
  if (shown.length <= FEW) {
    for (const event of shown) void announceOne(event, urgent.includes(event));
    return;
  }
  const kind = urgent.length > 0 ? "alarm" : "news";
  toast(t("event.noticesMany", { count: shown.length }), kind, {
    label: t("frame.show"),
    run: () => go("/events"),
  });
}

async function announceOne(event: Event, urgent: boolean): Promise<void> {
  const { alarmDetail, sensor } = event.attributes;
  if (alarmDetail || sensor) await loadAttributeWords().catch(() => {});
  const show = { label: t("frame.show"), run: () => openEvent(event) };
  const acknowledge = { label: t("review.acknowledge"), run: () => void review([event], "ACKNOWLEDGED") };
  // An announcement is about no vehicle, and not stored.
  const acts = event.id ? [show, ...(event.review && may("review") ? [acknowledge] : [])] : [];
  toast(textOf(event), urgent ? "alarm" : "news", ...acts);
}

/** The page's own words for what it knows, which are in the language of the page, else the server's. */
function textOf(event: Event): string {
  const name = deviceNow(event.deviceId)?.name;
  const { message } = event.attributes;
  if (name === undefined || !hasText(`event.type.${event.type}`)) {
    return typeof message === "string" ? message : t("frame.event", { name: name ?? "" });
  }
  const names = new Map(zones.peek()?.map((zone) => [zone.id, zone.name]));
  return t("event.subject", { event: eventText(event, names, style.peek()), name });
}

/** Who may see no history sees the event itself no more, but the vehicle. */
function openEvent(event: Event): void {
  go(may("reports") ? `/events/${event.id}` : `/vehicles/${event.deviceId}`);
}
