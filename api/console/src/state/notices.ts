/** Which events the page shows as they arrive, and how: attributes of the user. */

import type { Event } from "../api/types";
import { saveAttributes, session } from "./session";

export interface Notices {
  show: "all" | "alarms" | "none";
  /** The alarms that are read out at once and stay for a minute; null for all. */
  urgent: readonly string[] | null;
  sound: boolean;
  /** Whether the system shows what is urgent while the page is not looked at. */
  system: boolean;
}

/** The choices of the user; all events without a sound if there are none. */
export function notices(): Notices {
  const found = session.value?.attributes ?? {};
  const show = found["console.notices"];
  const urgent = found["console.urgentAlarms"];
  return {
    show: show === "alarms" || show === "none" ? show : "all",
    urgent: Array.isArray(urgent) ? urgent.filter((each): each is string => typeof each === "string") : null,
    sound: found["console.noticeSound"] === true,
    system: found["console.noticeSystem"] === true,
  };
}

/** Save choices; what is as without choices is not kept. */
export function saveNotices({ show, urgent, sound, system }: Notices): Promise<void> {
  return saveAttributes({
    "console.notices": show === "all" ? null : show,
    "console.urgentAlarms": urgent && [...urgent],
    "console.noticeSound": sound || null,
    "console.noticeSystem": system || null,
  });
}

/** Whether an event is shown. */
export function isShown(event: Event, { show }: Notices): boolean {
  return show === "all" || (show === "alarms" && event.type === "alarm");
}

/** Whether it interrupts what a screen reader says. */
export function isUrgent({ type, attributes }: Event, { urgent }: Notices): boolean {
  return type === "alarm" && (urgent === null || urgent.includes(String(attributes.alarm)));
}
