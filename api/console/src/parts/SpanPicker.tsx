import { t } from "../i18n/translate";
import { localText, readLocal } from "../time/local";
import { instantText, type Span, type SpanText } from "../time/spans";
import { Field } from "./Field";

const HOUR = 3_600_000;

interface SpanPickerProps {
  label: string;
  span: Span | null;
  zone: string;
  onSpan: (span: SpanText) => void;
}

/** A span by the pickers of the browser, which phones show as wheels; the other end follows where it must. */
export function SpanPicker({ label, span, zone, onSpan }: SpanPickerProps) {
  const [from, to] = span ? [localText(span.from, zone), localText(span.to, zone)] : ["", ""];
  const length = span ? span.to - span.from : HOUR;

  function change(end: "from" | "to", text: string) {
    const at = readLocal(text, zone);
    if (at === null) return;
    const begin = end === "from" ? at : span && span.from < at ? span.from : at - length;
    const close = end === "to" ? at : span && span.to > at ? span.to : at + length;
    onSpan({ from: instantText(begin), to: instantText(close) });
  }

  return (
    <fieldset class="span-picker">
      <legend class="hidden">{label}</legend>
      <Field
        type="datetime-local"
        label={t("time.from")}
        value={from}
        onChange={(event) => change("from", event.currentTarget.value)}
      />
      <Field
        type="datetime-local"
        label={t("time.to")}
        value={to}
        onChange={(event) => change("to", event.currentTarget.value)}
      />
    </fieldset>
  );
}
