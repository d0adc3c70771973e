/** Where a row of a report leads to. */

import { withQuery } from "../../router";
import { instantText } from "../../time/spans";
import { historyAt } from "../vehicle/acts";
import type { Item, Kind } from "./kinds";
import { type Asked, addressOf, withKind } from "./query";

/** A moment before and after, so that the way there is seen too. */
const AROUND_MS = 120_000;
const DAY_MS = 86_400_000;

/** The history of the vehicle at the time of the row, or the report with the rows behind it. */
export function goalOf(kind: Kind<Item>, item: Item, asked: Asked): string {
  const deviceId = kind.deviceId(item);
  if (kind.name === "devices") return `/vehicles/${deviceId}`;
  const span = kind.span(item);
  const leads = kind.leadsTo?.(item);
  if (leads && (!span || span.to - span.from > DAY_MS)) {
    const other = withKind(asked, leads.kind);
    return addressOf({
      ...other,
      ...(leads.deviceId && { deviceIds: [leads.deviceId], groupIds: [] }),
      ...(leads.group && { group: leads.group }),
    });
  }
  if (!span) return `/vehicles/${deviceId}`;
  if (span.from === span.to) return historyAt(deviceId, span.from);
  return withQuery(`/vehicles/${deviceId}/history`, {
    from: instantText(span.from - AROUND_MS),
    to: instantText(span.to + AROUND_MS),
    at: instantText(span.from),
  });
}
