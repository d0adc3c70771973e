/** The service levels of the tickets that are shown: asked for together, and again when they change. */

import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../../api/call";
import type { ServiceLevelView, Ticket } from "../../api/types";
import { now } from "../../time/clock";
import { askAgainAt } from "./clocks";

/** Most tickets of one request. */
const AT_ONCE = 200;
/** What could not be read is asked for again so much later. */
const AGAIN_MS = 15_000;
/** Views that are kept besides those that are shown. */
const MOST = 1000;

interface Shown {
  /** Components that show it. */
  count: number;
  version: number;
  askAt: number;
}

const views = new Map<number, Signal<ServiceLevelView | undefined>>();
const shown = new Map<number, Shown>();
let wanted = new Set<number>();
let end: (() => void) | null = null;

/** The service levels of a ticket, as they change; undefined until they are known. */
export function useServiceLevels({
  id,
  version,
}: Pick<Ticket, "id" | "version">): ReadonlySignal<ServiceLevelView | undefined> {
  useEffect(() => {
    const entry = shown.get(id) ?? { count: 0, version: -1, askAt: 0 };
    entry.count += 1;
    shown.set(id, entry);
    end ??= effect(askDue);
    return () => {
      entry.count -= 1;
      if (entry.count === 0) shown.delete(id);
      if (shown.size === 0) {
        end?.();
        end = null;
      }
    };
  }, [id]);
  useEffect(() => {
    const entry = shown.get(id);
    if (!entry || entry.version === version) return;
    entry.version = version;
    want(id);
  }, [id, version]);
  return viewOf(id);
}

function viewOf(id: number): Signal<ServiceLevelView | undefined> {
  const known = views.get(id);
  if (known) return known;
  const made = signal<ServiceLevelView | undefined>(undefined);
  views.set(id, made);
  if (views.size > MOST) {
    for (const each of [...views.keys()].slice(0, views.size - MOST))
      if (!shown.has(each)) views.delete(each);
  }
  return made;
}

/** One beat for all clocks: those whose instant has come are asked for. */
function askDue(): void {
  const at = now.value;
  for (const [id, entry] of shown) {
    if (entry.askAt > at) continue;
    entry.askAt = Number.POSITIVE_INFINITY;
    want(id);
  }
}

function want(id: number): void {
  if (wanted.size === 0) queueMicrotask(() => void ask());
  wanted.add(id);
}

async function ask(): Promise<void> {
  const ids = [...wanted];
  wanted = new Set();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    try {
      for (const view of await get<ServiceLevelView[]>("/tickets/sla", { ticketId: some })) {
        viewOf(view.ticketId).value = view;
        const entry = shown.get(view.ticketId);
        if (entry) entry.askAt = askAgainAt(view, Date.now());
      }
    } catch {
      for (const id of some) {
        const entry = shown.get(id);
        if (entry) entry.askAt = Date.now() + AGAIN_MS;
      }
    }
  }
}
