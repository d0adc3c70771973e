/** The rows of a report as they arrive; those that were read last are kept, so that *Back* shows them at once. */

import { useEffect, useState } from "preact/hooks";
import { getParts, type Query } from "../../api/call";
import type { CombinedItem } from "../../api/types";
import { type Item, type KindName, placedEvents } from "./kinds";
import type { Row } from "./rows";

/** More rows are left to workbooks: a browser would take gigabytes for them. */
export const MOST_ROWS = 200_000;
/** Milliseconds between two drawings while rows arrive; sorting many takes longer. */
const DRAWN_MS = 250;
const DRAWN_SLOWLY_MS = 2000;
const MANY_ROWS = 20_000;
/** Reports that are kept, and how many rows they may have together. */
const KEPT = 6;
const KEPT_ROWS = 300_000;
const KEPT_MS = 5 * 60_000;

/** `cut`: there are more rows than are shown; `stopped`: the reader did not want to wait. */
export type Progress = "reading" | "done" | "stopped" | "cut" | "failed";

export interface Report {
  rows: readonly Row[];
  /** The ways of vehicles, of reports that have them: longitude and latitude of each position. */
  ways: readonly (readonly (readonly number[])[])[];
  progress: Progress;
  problem: unknown;
  /** The vehicle that was read last. */
  lastDeviceId: number | null;
  stop: () => void;
  reload: () => void;
}

type State = Omit<Report, "stop" | "reload">;
const NOTHING: State = { rows: [], ways: [], progress: "reading", problem: null, lastDeviceId: null };

const kept = new Map<string, { at: number; state: State }>();

function keep(key: string, state: State): void {
  kept.delete(key);
  kept.set(key, { at: Date.now(), state });
  const rows = () => [...kept.values()].reduce((total, each) => total + each.state.rows.length, 0);
  while (kept.size > KEPT || (kept.size > 1 && rows() > KEPT_ROWS))
    kept.delete(kept.keys().next().value ?? "");
}

function found(key: string): State | undefined {
  const known = kept.get(key);
  if (!known || Date.now() - known.at > KEPT_MS) return undefined;
  return known.state;
}

/** Forget what was read, as of somebody else. */
export function forgetReports(): void {
  kept.clear();
}

/** Read a report; without a query there is nothing to read, and nothing is shown. */
export function useReport(kind: KindName, query: Query | null): Report {
  const key = `${kind} ${JSON.stringify(query)}`;
  const [state, setState] = useState<{ key: string; state: State }>({ key, state: found(key) ?? NOTHING });
  const [count, setCount] = useState(0);
  const [abort, setAbort] = useState<AbortController | null>(null);
  useEffect(() => {
    const known = found(key);
    if (known || !query) {
      setState({ key, state: known ?? { ...NOTHING, progress: "done" } });
      return undefined;
    }
    const control = new AbortController();
    setAbort(control);
    void read(kind, query, control.signal, (next) => {
      if (next.progress === "done" || next.progress === "cut") keep(key, next);
      setState({ key, state: next });
    });
    return () => control.abort(LEFT);
    // `query` is what `key` says.
  }, [key, count]);
  const shown = state.key === key ? state.state : (found(key) ?? NOTHING);
  return {
    ...shown,
    stop: () => abort?.abort(STOPPED),
    reload: () => {
      kept.delete(key);
      setCount((before) => before + 1);
    },
  };
}

const LEFT = "left";
const STOPPED = "stopped";

/** Read all rows; `show` is called with what there is so far, and not any more once the place was left. */
async function read(
  kind: KindName,
  query: Query,
  signal: AbortSignal,
  show: (state: State) => void,
): Promise<void> {
  const rows: Row[] = [];
  const ways: (readonly (readonly number[])[])[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (progress: Progress, problem: unknown = null) => {
    clearTimeout(timer);
    timer = undefined;
    if (signal.aborted && signal.reason !== STOPPED) return;
    const last = rows.at(-1)?.item as { deviceId?: number } | undefined;
    show({
      rows: rows.slice(),
      ways: ways.slice(),
      progress,
      problem,
      lastDeviceId: last?.deviceId ?? null,
    });
  };
  say("reading");
  try {
    for await (const part of getParts<Item>(`/reports/${kind}`, query, signal)) {
      for (const item of part) {
        if (kind !== "combined") rows.push({ index: rows.length, item });
        else {
          const { route } = item as CombinedItem;
          ways.push(route);
          for (const each of placedEvents(item as CombinedItem))
            rows.push({ index: rows.length, item: each });
        }
      }
      if (rows.length >= MOST_ROWS) {
        rows.length = MOST_ROWS;
        say("cut");
        return;
      }
      timer ??= setTimeout(() => say("reading"), rows.length < MANY_ROWS ? DRAWN_MS : DRAWN_SLOWLY_MS);
    }
    say("done");
  } catch (problem) {
    if (signal.aborted) say("stopped");
    else say("failed", problem);
  }
}
