/** What the clocks of a ticket say (docs/service-levels.md#the-view). Business time is the server's alone. Pure. */

import type { ServiceLevelView, TargetView } from "../../api/types";
import type { Style } from "../../format/style";
import { date, dayTime, duration } from "../../format/times";
import { t } from "../../i18n/translate";

const MINUTE = 60_000;
const SOON_MS = 60 * MINUTE;

export type TargetName = "firstResponse" | "resolution";
export type Tone = "late" | "soon" | "calm" | "done";
export interface ClockText {
  text: string;
  tone: Tone;
}

/** What one target says at an instant; null where there is nothing to say. */
export function clockText(
  view: ServiceLevelView,
  target: TargetView,
  now: number,
  style: Pick<Style, "language" | "zone">,
): ClockText | null {
  const span = (minutes: number) => duration(Math.abs(minutes) * MINUTE, style);
  const due = target.due === null ? null : Date.parse(target.due);
  switch (target.state) {
    case "none":
    case "cancelled":
      return null;
    case "noCalendarTime":
      return { text: t("tickets.clock.noHours"), tone: "calm" };
    case "paused":
      return {
        text: t("tickets.clock.paused", { span: duration(now - pausedSince(view, now), style) }),
        tone: "calm",
      };
    case "met":
      return { text: t("tickets.clock.met", { span: span(target.remainingMinutes) }), tone: "done" };
    case "missed":
      return { text: t("tickets.clock.missed", { span: span(target.remainingMinutes) }), tone: "late" };
    case "overdue":
      return {
        text: t("tickets.clock.overdue", { span: span(lateMinutes(view, target, now)) }),
        tone: "late",
      };
    case "waiting":
      return waiting(view, due, now, style);
    case "running":
      return running(view, due, now, style);
  }
}

function waiting(
  view: ServiceLevelView,
  due: number | null,
  now: number,
  style: Pick<Style, "language" | "zone">,
): ClockText {
  const start = view.nextWindowStart === null ? null : Date.parse(view.nextWindowStart);
  if (start === null) return { text: t("tickets.clock.noHours"), tone: "calm" };
  // The server is asked again at that instant.
  if (start <= now && due !== null)
    return { text: t("tickets.clock.due", { at: weekTime(due, now, style) }), tone: "calm" };
  return { text: t("tickets.clock.waits", { at: weekTime(start, now, style) }), tone: "calm" };
}

function running(
  view: ServiceLevelView,
  due: number | null,
  now: number,
  style: Pick<Style, "language" | "zone">,
): ClockText | null {
  if (due === null) return null;
  if (due < now)
    return { text: t("tickets.clock.overdue", { span: duration(now - due, style) }), tone: "late" };
  const end = view.windowEnd === null ? null : Date.parse(view.windowEnd);
  // Hours until a due time beyond closing would count the night as well.
  if (end !== null && due > end)
    return { text: t("tickets.clock.due", { at: weekTime(due, now, style) }), tone: "calm" };
  const left = due - now;
  return {
    text: t("tickets.clock.left", { span: duration(left, style) }),
    tone: left <= SOON_MS ? "soon" : "calm",
  };
}

/** Business minutes by which a target is late; while they count, those since the server was asked as well. */
function lateMinutes(view: ServiceLevelView, target: TargetView, now: number): number {
  const end = view.windowEnd === null ? now : Math.min(now, Date.parse(view.windowEnd));
  const since = view.inBusinessHours ? Math.floor((end - Date.parse(view.computedAt)) / MINUTE) : 0;
  return Math.max(0, -target.remainingMinutes) + Math.max(0, since);
}

function pausedSince(view: ServiceLevelView, now: number): number {
  const lasting = view.pauses.filter(({ to }) => to === null).map(({ from }) => Date.parse(from));
  return lasting.length > 0 ? Math.min(...lasting) : now;
}

const WEEK_MS = 7 * 86_400_000;

/** `Mon 09:00` within a week, else the day of the month with the time; the time alone today. */
export function weekTime(at: number, now: number, style: Pick<Style, "language" | "zone">): string {
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: style.zone } as const;
  if (date(at, style) === date(now, style)) return new Intl.DateTimeFormat(style.language, time).format(at);
  if (Math.abs(at - now) >= WEEK_MS) return dayTime(at, style);
  return new Intl.DateTimeFormat(style.language, { weekday: "short", ...time }).format(at);
}

/** The target that a row shows: what is late, then what is due first, then what is paused, then the last verdict. */
export function urgentTarget(view: ServiceLevelView): TargetName {
  const rank = ({ state }: TargetView) =>
    ({
      overdue: 0,
      running: 1,
      waiting: 1,
      paused: 2,
      noCalendarTime: 3,
      missed: 4,
      met: 4,
      cancelled: 5,
      none: 6,
    })[state];
  const { firstResponse, resolution } = view;
  if (rank(firstResponse) !== rank(resolution))
    return rank(firstResponse) < rank(resolution) ? "firstResponse" : "resolution";
  if (rank(resolution) >= 4) return "resolution";
  return (firstResponse.due ?? "~") <= (resolution.due ?? "~") ? "firstResponse" : "resolution";
}

/** When the server has to be asked again, in milliseconds since 1970: business hours begin or end, or a target is due. */
export function askAgainAt(view: ServiceLevelView, now: number): number {
  const dues = [view.firstResponse, view.resolution].map(({ state, due }) =>
    state === "running" || state === "waiting" ? due : null,
  );
  const instants = [view.windowEnd, view.nextWindowStart, ...dues]
    // Instants are cut to whole seconds.
    .flatMap((text) => (text === null ? [] : [Date.parse(text) + 1000]))
    .filter((instant) => instant > now);
  return Math.min(Number.POSITIVE_INFINITY, ...instants);
}
