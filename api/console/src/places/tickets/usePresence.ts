import { useEffect, useRef, useState } from "preact/hooks";
import { put } from "../../api/call";
import type { TicketPresence } from "../../api/types";
import { may } from "../../state/session";

/** The server forgets a presence after 30 s (docs/tickets.md#presence). */
const RENEW_MS = 10_000;

/** Tell that the reader looks at a ticket, or writes in it, and hear who else does. */
export function usePresence(ticketId: number, handles: boolean, writing: boolean): readonly TicketPresence[] {
  const [others, setOthers] = useState<readonly TicketPresence[]>([]);
  const state = useRef(writing);
  state.current = writing;
  const tell = useRef<() => void>(() => {});
  useEffect(() => {
    if (!handles || !may("edit")) return undefined;
    const path = `/tickets/${ticketId}/presence`;
    let ended = false;
    tell.current = () => {
      if (document.hidden) return;
      put<TicketPresence[]>(path, { state: state.current ? "WRITING" : "VIEWING" }).then(
        (found) => {
          if (!ended) setOthers(found);
        },
        () => {
          if (!ended) setOthers([]);
        },
      );
    };
    tell.current();
    const timer = setInterval(() => tell.current(), RENEW_MS);
    return () => {
      ended = true;
      clearInterval(timer);
      tell.current = () => {};
      void put(path, { state: "LEFT" }).catch(() => {});
    };
  }, [ticketId, handles]);
  // Somebody who begins to write is seen at once.
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) tell.current();
    first.current = false;
  }, [writing]);
  return others;
}
