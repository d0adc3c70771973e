/** Senders at the ports of trackers, for administrators. */

import { useEffect, useRef, useState } from "preact/hooks";
import { listen, onOpen, send } from "../../api/socket";
import { may } from "../../state/session";
import { addRecords, type Sender, type Wanted } from "./unclaimedSenders";

/** The unclaimed senders heard while the component is mounted; none for users who are not administrators. */
export function useUnclaimedSenders(wanted: Wanted): readonly Sender[] {
  const [senders, setSenders] = useState<readonly Sender[]>([]);
  const latest = useRef(wanted);
  latest.current = wanted;
  const allowed = may("administer");
  useEffect(() => {
    if (!allowed) return undefined;
    const ask = () => send({ logs: true });
    ask();
    const endOpening = onOpen(ask);
    const endListening = listen(({ logs }) => {
      if (logs) setSenders((known) => addRecords(known, logs, latest.current, Date.now()));
    });
    return () => {
      endOpening();
      endListening();
      send({ logs: false });
    };
  }, [allowed]);
  return senders;
}
