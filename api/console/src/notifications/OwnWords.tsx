import { useEffect, useId, useRef, useState } from "preact/hooks";
import { post } from "../api/call";
import type { Notification, TriedMessage } from "../api/types";
import { PLACEHOLDERS } from "../format/kindTable";
import { t } from "../i18n/translate";
import { Field } from "../parts/Field";
import { sentenceOf } from "../parts/Problem";
import { type RefusedField, refusedField } from "../records/records";
import { Message } from "./Message";

/** How long after the last key the words are tried. */
const TRY_MS = 500;
const MOST_SUBJECT = 200;
const MOST_TEXT = 1000;

interface OwnWordsProps {
  value: Notification;
  disabled: boolean;
  setAttribute: (name: string, to: unknown) => void;
}

/** Whether a notification says things in other words than the server. */
export function hasOwnWords({ attributes }: Pick<Notification, "attributes">): boolean {
  return Boolean(attributes.subject || attributes.text);
}

/** A subject and a text of the user in place of the usual ones, with a preview. */
export function OwnWords({ value, disabled, setAttribute }: OwnWordsProps) {
  const id = useId();
  const last = useRef<HTMLInputElement | HTMLTextAreaElement | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [open] = useState(hasOwnWords(value));
  const subject = textOf(value.attributes.subject);
  const text = textOf(value.attributes.text);
  const tried = usePreview(value.type, subject, text, textOf(value.attributes.alarms));
  const refusalOf = (name: string) =>
    tried?.refused?.key === `attributes.${name}` ? tried.refused.text : undefined;

  function insert(name: string) {
    const field = last.current ?? area.current;
    if (!field) return;
    const { value: before, selectionStart, selectionEnd } = field;
    const start = selectionStart ?? before.length;
    const head = `${before.slice(0, start)}{${name}}`;
    field.value = head + before.slice(selectionEnd ?? start);
    field.setSelectionRange(head.length, head.length);
    setAttribute(field === area.current ? "text" : "subject", field.value);
    field.focus();
  }
  return (
    <details class="notification-words" open={open}>
      <summary>{t("notification.words")}</summary>
      <div class="notification-form">
        <p class="field-hint">{t("notification.wordsHint")}</p>
        <Field
          label={t("notification.subject")}
          hint={t("notification.subjectHint")}
          value={subject}
          maxLength={MOST_SUBJECT}
          disabled={disabled}
          error={refusalOf("subject")}
          onFocus={(event) => {
            last.current = event.currentTarget;
          }}
          onInput={(event) => setAttribute("subject", event.currentTarget.value)}
        />
        <div class="field">
          <label for={id}>{t("notification.text")}</label>
          <textarea
            ref={area}
            id={id}
            rows={4}
            maxLength={MOST_TEXT}
            value={text}
            disabled={disabled}
            aria-invalid={refusalOf("text") ? true : undefined}
            aria-describedby={`${id}-refused`}
            onFocus={(event) => {
              last.current = event.currentTarget;
            }}
            onInput={(event) => setAttribute("text", event.currentTarget.value)}
          />
          <p class="field-error" id={`${id}-refused`} role="alert">
            {refusalOf("text")}
          </p>
        </div>
        <fieldset class="chips">
          <legend>{t("notification.placeholders")}</legend>
          {PLACEHOLDERS.map((name) => (
            <button
              key={name}
              type="button"
              class="chip"
              title={`{${name}}`}
              disabled={disabled}
              onClick={() => insert(name)}
            >
              {t(`notification.placeholder.${name}`)}
            </button>
          ))}
        </fieldset>
        <div aria-live="polite">
          {tried?.message && <Message message={tried.message} caption={t("notification.example")} />}
          {tried?.refused && !/^attributes\.(subject|text)$/.test(tried.refused.key) && (
            <p class="refusal">{tried.refused.text}</p>
          )}
        </div>
      </div>
    </details>
  );
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

interface Tried {
  message: TriedMessage | null;
  refused: RefusedField | null;
}

/** What the server makes of the words for an event that is made up; null without any. */
function usePreview(type: string, subject: string, text: string, alarms: string): Tried | null {
  const [tried, setTried] = useState<Tried | null>(null);
  useEffect(() => {
    if (subject.trim() === "" && text.trim() === "") {
      setTried(null);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const attributes = { ...(subject && { subject }), ...(text && { text }), ...(alarms && { alarms }) };
      post<TriedMessage>("/notifications/preview", { type, attributes }, undefined, abort.signal).then(
        (message) => setTried({ message, refused: null }),
        (problem: unknown) => {
          if (abort.signal.aborted) return;
          setTried({
            message: null,
            refused: refusedField(problem) ?? { key: "", text: sentenceOf(problem) },
          });
        },
      );
    }, TRY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [type, subject, text, alarms]);
  return tried;
}
