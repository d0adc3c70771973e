/** What a notification would have sent, in words. */

import { post } from "../api/call";
import type { Notification, NotificationTrial } from "../api/types";
import { t } from "../i18n/translate";
import { style } from "../state/session";
import { now } from "../time/clock";
import { startOfDay } from "../time/zones";
import { channelName } from "./channels";

export interface Linked {
  deviceIds: readonly number[];
  groupIds: readonly number[];
  userIds: readonly number[];
}

/** Days before today, and today until now. */
export type TrialSpan = "yesterday" | "week";

/** Try a notification on the stored events of yesterday, or of seven days. Throws a `Problem`. */
export function tryNotification(
  notification: Notification,
  linked: Linked,
  span: TrialSpan,
  signal?: AbortSignal,
): Promise<NotificationTrial> {
  const { zone } = style.value;
  const today = startOfDay(now.peek(), zone);
  const from = startOfDay(today, zone, span === "yesterday" ? -1 : -7);
  return post<NotificationTrial>(
    "/notifications/trial",
    { ...notification, ...linked },
    { from: new Date(from).toISOString(), to: new Date(today - 1).toISOString() },
    signal,
  );
}

/** `14 × E-mail, 14 × This page`; empty if it sends nothing. */
export function sentText({ channels }: Pick<NotificationTrial, "channels">): string {
  const sent = channels
    .filter(({ messages }) => messages > 0)
    .map(({ type, messages }) => t("notification.times", { count: messages, channel: channelName(type) }));
  return new Intl.ListFormat(style.value.language, { type: "unit" }).format(sent);
}
