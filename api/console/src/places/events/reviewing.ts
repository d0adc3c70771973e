/** Reviews that the reader makes, with a notice by which they are undone. */

import type { Event } from "../../api/types";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { type ReviewState, reviewEvents } from "../../state/reviews";

/** Acknowledge or dismiss events, or have them wait again. */
export async function review(events: readonly Event[], state: ReviewState, note = ""): Promise<void> {
  const { done, problem } = await reviewEvents(events, state, note.trim() || null);
  if (problem !== null) toast(sentenceOf(problem), "bad");
  if (done.length === 0) return;
  const undo = { label: t("review.undo"), run: () => void review(done, "OPEN") };
  toast(t(`review.done.${state}`, { count: done.length }), "good", ...(state === "OPEN" ? [] : [undo]));
}
