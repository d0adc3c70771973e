import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Event } from "../../api/types";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { type ReviewState, reviewOf } from "../../state/reviews";
import { may, style } from "../../state/session";
import { review } from "./reviewing";
import { SeverityMark } from "./SeverityMark";
import "./review.css";

/** The longest note that the server takes. */
const MOST_NOTE = 1000;

/** How severe an event is, who has reviewed it, and what changes that. */
export function ReviewBar({ event }: { event: Event }) {
  const [note, setNote] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const found = reviewOf(event);
  const open = found?.state === "OPEN" && may("review");
  const set = (state: ReviewState) => {
    void review([event], state, note);
    setNote("");
  };
  const ifOpen = (state: ReviewState) => () => {
    if (open) set(state);
    return open;
  };
  useKeys("event", {
    acknowledge: ifOpen("ACKNOWLEDGED"),
    dismiss: ifOpen("DISMISSED"),
    note: () => {
      field.current?.focus();
      return open;
    },
  });
  if (!found) return null;
  return (
    <section class="review-bar" aria-label={t("review.title")}>
      <SeverityMark of={event} />
      <p role="status">
        <strong>{t(`review.state.${found.state}`)}</strong>
        {found.time && found.state !== "OPEN" && (
          <span translate={false}>
            {" "}
            {t("review.by", {
              name: found.userName ?? "",
              time: dateTime(Date.parse(found.time), style.value),
            })}
          </span>
        )}
        {found.note && <q>{found.note}</q>}
      </p>
      {open && (
        <div class="review-acts">
          <NoteField value={note} onChange={setNote} onEnter={() => set("ACKNOWLEDGED")} field={field} />
          <button type="button" class="primary" onClick={() => set("ACKNOWLEDGED")}>
            {t("review.acknowledge")}
          </button>
          <button type="button" onClick={() => set("DISMISSED")}>
            {t("review.dismiss")}
          </button>
        </div>
      )}
      {found.state !== "OPEN" && may("review") && (
        <button type="button" class="quiet" onClick={() => set("OPEN")}>
          {t("review.reopen")}
        </button>
      )}
    </section>
  );
}

interface NoteFieldProps {
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  field: RefObject<HTMLInputElement | null>;
}

/** A note for the review, which may stay empty. */
export function NoteField({ value, onChange, onEnter, field }: NoteFieldProps) {
  return (
    <input
      ref={field}
      class="review-note"
      aria-label={t("review.note")}
      placeholder={t("review.note")}
      maxLength={MOST_NOTE}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") onEnter();
        else if (event.key === "Escape") event.currentTarget.blur();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
