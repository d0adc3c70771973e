import { useEffect, useRef, useState } from "preact/hooks";
import { getCounted, type Query } from "../../api/call";
import type { Ticket } from "../../api/types";
import { useTicketChanges } from "./changes";

/** Tickets that are read at once, unless the place says otherwise. */
const PAGE = 100;
/** Most that the server lists at once. */
const MOST = 1000;

interface Read {
  key: string;
  rows: readonly Ticket[];
  total: number;
}

export interface TicketList {
  /** Undefined until they are read. */
  rows: readonly Ticket[] | undefined;
  total: number;
  problem: unknown;
  readMore: () => void;
  reload: () => void;
  /** Show a ticket as it has become, until the list is read again. */
  replace: (ticket: Ticket) => void;
}

/** The tickets that a query finds, page by page; read again when some change. */
export function useTicketList(companyId: number, key: string, query: () => Query, page = PAGE): TicketList {
  const [state, setState] = useState<Read | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const abort = useRef(new AbortController());
  const busy = useRef(false);
  const again = useRef(false);
  const latest = useRef(state);
  latest.current = state?.key === key ? state : null;

  async function ask(offset: number, limit: number, merge: (rows: readonly Ticket[]) => readonly Ticket[]) {
    const { signal } = abort.current;
    busy.current = true;
    try {
      const { rows, total } = await getCounted<Ticket>("/tickets", { ...query(), offset, limit }, signal);
      if (signal.aborted) return;
      setProblem(null);
      setState({ key, rows: merge(rows), total });
    } catch (failure) {
      if (!signal.aborted) setProblem(failure);
    } finally {
      if (!signal.aborted) busy.current = false;
    }
    if (signal.aborted || !again.current) return;
    again.current = false;
    renew();
  }
  /** Read what is listed once more. */
  function renew() {
    if (busy.current) {
      again.current = true;
      return;
    }
    const before = latest.current?.rows ?? [];
    const limit = Math.min(MOST, Math.max(page, before.length));
    void ask(0, limit, (rows) => (rows.length < limit ? rows : distinct([...rows, ...before.slice(limit)])));
  }

  useEffect(() => {
    abort.current = new AbortController();
    busy.current = false;
    again.current = false;
    setProblem(null);
    renew();
    return () => abort.current.abort();
  }, [key, companyId]);
  useTicketChanges(companyId, renew);

  return {
    rows: latest.current?.rows,
    total: latest.current?.total ?? 0,
    problem,
    readMore: () => {
      const before = latest.current;
      if (!before || busy.current || before.rows.length >= before.total) return;
      void ask(before.rows.length, page, (rows) => distinct([...before.rows, ...rows]));
    },
    reload: renew,
    replace: (ticket) =>
      setState(
        (before) =>
          before && { ...before, rows: before.rows.map((each) => (each.id === ticket.id ? ticket : each)) },
      ),
  };
}

/** Each ticket once: rows may move from one page to another while they are read. */
export function distinct(rows: readonly Ticket[]): readonly Ticket[] {
  const found = new Map<number, Ticket>();
  for (const row of rows) if (!found.has(row.id)) found.set(row.id, row);
  return [...found.values()];
}
