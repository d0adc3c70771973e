import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Group } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Rows } from "../../parts/Rows";
import { useCurrentRow } from "../../parts/useCurrentRow";
import { go } from "../../router";
import { deviceNow } from "../../state/fleet";
import { read, useLoaded } from "../../state/responseCache";
import { loadWaiting, moreWait, type ReviewState, waiting, waitingRead } from "../../state/reviews";
import { may } from "../../state/session";
import { addressOf, type EventFilters } from "./filters";
import { InboxRow, inboxRowHeight } from "./InboxRow";
import { matching, selectedWith } from "./inbox";
import { NoteField } from "./ReviewBar";
import { review } from "./reviewing";
import { useZoneNames } from "./zoneNames";
import "./inbox.css";
import "./review.css";

/** Events that arrive are asked for with their places once in this time. */
const ARRIVED_MS = 1000;
const NONE: ReadonlySet<number> = new Set();

interface InboxProps {
  path: string;
  filters: EventFilters;
}

/** The events that wait for review; several are answered at once, and it is undone by the notice. */
export function Inbox({ path, filters }: InboxProps) {
  const { problem, reload } = useDetails();
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true })).value;
  const events = useMemo(
    () => matching(waiting.value, filters, groups ?? [], (id) => deviceNow(id)?.groupId ?? 0),
    [waiting.value, groups, addressOf(path, filters)],
  );
  const ids = useMemo(() => events.map(({ id }) => id), [events]);
  const zones = useZoneNames();
  const [current, setCurrent] = useCurrentRow(ids);
  const [chosen, setChosen] = useState(NONE);
  const [note, setNote] = useState("");
  const field = useRef<HTMLInputElement>(null);
  /** The event where a range begins. */
  const anchor = useRef<number | null>(null);
  // What others have reviewed is gone.
  const selected = new Set(ids.filter((id) => chosen.has(id)));
  const mayReview = may("review");

  const step = (by: number) => setCurrent(Math.max(0, Math.min(ids.length - 1, current + by)));
  const select = (index: number, isRange: boolean) => {
    const begin = anchor.current === null ? -1 : ids.indexOf(anchor.current);
    setChosen(selectedWith(selected, ids, index, isRange ? (begin < 0 ? index : begin) : null));
    if (!isRange) anchor.current = ids[index] ?? null;
    setCurrent(index);
  };
  const answer = (state: ReviewState) => {
    const meant = selected.size > 0 ? selected : new Set(current < 0 ? [] : ids.slice(current, current + 1));
    if (!mayReview || meant.size === 0) return false;
    void review(
      events.filter(({ id }) => meant.has(id)),
      state,
      note,
    );
    setChosen(NONE);
    setNote("");
    anchor.current = null;
    return true;
  };
  useKeys("list", {
    next: () => step(1),
    previous: () => step(-1),
    open: () => {
      const event = events[current];
      if (event) go(`/events/${event.id}`);
      return event !== undefined;
    },
  });
  useKeys("inbox", {
    select: () => mayReview && current >= 0 && select(current, false),
    selectTo: () => mayReview && current >= 0 && select(current, true),
    acknowledge: () => answer("ACKNOWLEDGED"),
    dismiss: () => answer("DISMISSED"),
    note: () => field.current?.focus(),
  });

  if (!waitingRead.value) {
    return problem === null ? (
      <Skeleton label={t("common.loading")} lines={8} />
    ) : (
      <Problem problem={problem} onRetry={reload} />
    );
  }
  if (ids.length === 0) return <Nothing path={path} filters={filters} />;
  return (
    <>
      {mayReview && (
        <div class={`inbox-bar${selected.size === 0 ? " none" : ""}`}>
          <label class="inbox-check">
            <input
              type="checkbox"
              aria-label={t("review.selectAll")}
              checked={selected.size === ids.length}
              onChange={(event) => setChosen(event.currentTarget.checked ? new Set(ids) : NONE)}
            />
          </label>
          <span role="status">
            {selected.size > 0
              ? t("review.selected", { count: selected.size })
              : t(moreWait.value ? "review.countMore" : "review.count", { count: ids.length })}
          </span>
          <NoteField value={note} onChange={setNote} onEnter={() => answer("ACKNOWLEDGED")} field={field} />
          <button
            type="button"
            class="primary"
            disabled={selected.size === 0}
            onClick={() => answer("ACKNOWLEDGED")}
          >
            {t("review.acknowledge")}
          </button>
          <button type="button" disabled={selected.size === 0} onClick={() => answer("DISMISSED")}>
            {t("review.dismiss")}
          </button>
        </div>
      )}
      <Rows
        class="inbox-rows"
        label={t("review.list")}
        count={ids.length}
        rowHeight={inboxRowHeight()}
        current={current}
        keyOf={(index) => ids[index] ?? index}
        render={(index) => {
          const event = events[index];
          return (
            event && (
              <InboxRow
                event={event}
                zones={zones}
                current={index === current}
                selected={mayReview ? selected.has(event.id) : null}
                onSelect={(isRange) => select(index, isRange)}
              />
            )
          );
        }}
      />
    </>
  );
}

function Nothing({ path, filters }: InboxProps) {
  const cleared = addressOf(path, { ...filters, kinds: [], deviceId: null, groupId: null });
  return (
    <Empty icon="check" title={t("review.nothing")} text={t("review.nothingText")}>
      {cleared !== addressOf(path, filters) ? (
        <button type="button" onClick={() => go(cleared)}>
          {t("event.clear")}
        </button>
      ) : (
        <button type="button" onClick={() => go(addressOf(path, { ...filters, state: "ALL" }))}>
          {t("review.all")}
        </button>
      )}
    </Empty>
  );
}

function newestOf(events: readonly { id: number }[]): number {
  return events.reduce((most, { id }) => Math.max(most, id), 0);
}

/** Have what waits read with places, drivers and pictures, again when something arrives. */
function useDetails(): { problem: unknown; reload: () => void } {
  const [problem, setProblem] = useState<unknown>(null);
  const newest = newestOf(waiting.value);
  const known = useRef(-1);
  async function load() {
    try {
      await loadWaiting(true);
      known.current = newestOf(waiting.peek());
      setProblem(null);
    } catch (failure) {
      if (!(failure instanceof DOMException)) setProblem(failure);
    }
  }
  useEffect(() => {
    if (newest <= known.current) return undefined;
    const timer = setTimeout(() => void load(), known.current < 0 ? 0 : ARRIVED_MS);
    return () => clearTimeout(timer);
  }, [newest]);
  return { problem, reload: () => void load() };
}
