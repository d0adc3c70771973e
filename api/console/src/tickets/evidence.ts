/** Evidence of tickets (docs/tickets.md#evidence). */

import { post } from "../api/call";
import type { Ticket } from "../api/types";
import { t } from "../i18n/translate";

/** A photo, film or other file of a device, by its name. */
export interface EvidenceFile {
  deviceId: number;
  fileName: string;
}

export interface Evidence {
  files?: readonly EvidenceFile[];
  /** Captures, also such as have not ended. */
  captureIds?: readonly string[];
  /** 0 is none. */
  positionId?: number;
  /** What the comment says; without it that there is evidence. */
  text?: string;
}

/** Most files that one comment adds. */
const FILES = 20;

/** Add evidence by internal comments: one for position and files, one for each capture. */
export async function addEvidence(
  ticket: Pick<Ticket, "id">,
  { files = [], captureIds = [], positionId = 0, text = t("event.evidenceComment") }: Evidence,
): Promise<void> {
  const path = `/tickets/${ticket.id}/comments`;
  const comment = { text, internal: true };
  if (positionId || files.length > 0)
    await post(path, { ...comment, positionId, files: files.slice(0, FILES) });
  for (const captureId of captureIds) await post(path, { ...comment, captureId });
}
