import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Problem as Refused } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { useKeys } from "../../../keys/listen";
import { Empty } from "../../../parts/Empty";
import { FilterBar } from "../../../parts/FilterBar";
import { Problem } from "../../../parts/Problem";
import { spanText, TimeField } from "../../../parts/TimeField";
import { hasTouch } from "../../../parts/touch";
import { go, location, withQuery } from "../../../router";
import { device, loadDevice } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { style } from "../../../state/session";
import { now } from "../../../time/clock";
import { localText, readLocal } from "../../../time/local";
import { instantText, type SpanText } from "../../../time/spans";
import { VehicleHeader } from "../VehicleHeader";
import { askedSpan, askedText, dayOf } from "./historyQuery";
import { SAVE_ID, Save } from "./Save";
import { SpanView } from "./SpanView";
import "./history.css";

const YESTERDAY: SpanText = { from: "now-1d/d", to: "now-1d/d" };
const WEEK: SpanText = { from: "now/w", to: "now" };

/** What a vehicle did in a span: route, speed, trips, stops, events and film, all at one cursor. */
export default function History({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`history ${id}`, (signal) => loadDevice(id, signal));
  const found = device(id).value;
  const name = found?.name;
  useEffect(() => {
    document.title = `${name ? t("history.titleOf", { name }) : t("vehicle.history")} · Motorpool`;
  }, [name]);
  const missing = read.problem instanceof Refused && read.problem.status === 404;
  return (
    <div class="history">
      <VehicleHeader id={id} chosen="history" />
      {missing ? (
        <Empty icon="pin" title={t("vehicle.missing")} />
      ) : read.problem ? (
        <Problem problem={read.problem} onRetry={read.reload} />
      ) : found ? (
        <Spans key={id} id={id} />
      ) : (
        <div class="history-waiting" role="status" aria-label={t("common.loading")} />
      )}
    </div>
  );
}

/** The choice of a span, and what was in it. */
function Spans({ id }: { id: number }) {
  const { zone } = style.value;
  const text = askedText(location.value.query, zone);
  // Words such as `now` mean the moment at which they were chosen.
  const span = useMemo(() => askedSpan(text, Date.now(), zone), [text.from, text.to, zone]);
  const box = useRef<HTMLDivElement>(null);
  const moment = useSignal<number | null>(null);

  function choose(next: SpanText, at?: number): void {
    const query = new URLSearchParams({ from: next.from, to: next.to });
    if (at !== undefined) query.set("at", instantText(at));
    for (const channel of location.peek().query.getAll("channel")) query.append("channel", channel);
    go(withQuery(`/vehicles/${id}/history`, query));
    leaveField();
  }
  function chooseMoment(at: number): void {
    if (span && at >= span.from && at <= span.to) {
      moment.value = at;
      leaveField();
    } else choose(dayOf(at, zone), at);
  }
  /** What was typed is done: keys are those of the history again. */
  function leaveField(): void {
    if (document.activeElement instanceof HTMLInputElement)
      box.current?.querySelector<HTMLElement>("[role=slider]")?.focus();
  }
  /** A digit begins a time, wherever the focus is but in the film. */
  function type(digit: string): boolean {
    const field = box.current?.querySelector<HTMLInputElement>(".time-field input");
    if (!field || document.activeElement?.closest(".film")) return false;
    field.focus();
    field.value = digit;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    return true;
  }
  useKeys("history", {
    yesterday: () => choose(YESTERDAY),
    week: () => choose(WEEK),
    export: () => document.getElementById(SAVE_ID)?.click(),
    time: type,
  });

  return (
    <div ref={box} class="history-body">
      <div class="history-bar">
        <FilterBar
          label={span ? spanText(span.from, span.to, now.value, style.value) : undefined}
          lead={
            <>
              <div class="button-row history-days">
                <button type="button" class="quiet" onClick={() => choose(YESTERDAY)}>
                  {t("time.yesterday")}
                </button>
                <button type="button" class="quiet" onClick={() => choose(WEEK)}>
                  {t("time.week")}
                </button>
              </div>
              {hasTouch && span && (
                <input
                  type="time"
                  class="history-moment"
                  aria-label={t("time.goTo")}
                  onChange={(event) => {
                    const day = localText(span.from, zone).slice(0, -"00:00".length);
                    const at = readLocal(day + event.currentTarget.value, zone);
                    if (at !== null) chooseMoment(at);
                  }}
                />
              )}
              {span && <Save deviceId={id} span={span} />}
            </>
          }
        >
          <TimeField
            label={t("history.span")}
            value={text}
            now={now.value}
            style={style.value}
            onSpan={(next) => choose(next)}
            onMoment={chooseMoment}
          />
        </FilterBar>
      </div>
      {span ? (
        <SpanView id={id} span={span} moment={moment} onSpan={choose} />
      ) : (
        <Empty icon="history" title={t("history.badSpan")} text={t("time.unknown")} />
      )}
    </div>
  );
}
