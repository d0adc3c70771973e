/** How many of the reader's tickets are overdue, for the rail. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { getCounted } from "../api/call";
import { listen } from "../api/socket";
import type { Ticket } from "../api/types";
import { expired, may, session } from "./session";

/** Changes that come close together are counted once. */
const REST_MS = 3000;
/** Without a change it is counted again this often while the page is looked at. */
const EVERY_MS = 300_000;

const count = signal(0);
export const overdueOfMine: ReadonlySignal<number> = count;

let rest = 0;

/** Count with the session, and when tickets change. */
export function startTicketCount(): void {
  listen(({ tickets }) => {
    if (tickets) rest ||= window.setTimeout(readCount, REST_MS);
  });
  setInterval(() => {
    if (!document.hidden) readCount();
  }, EVERY_MS);
  effect(() => {
    if (session.value) rest ||= window.setTimeout(readCount, 0);
  });
}

function readCount(): void {
  clearTimeout(rest);
  rest = 0;
  const user = session.peek();
  if (!user || user.temporary || expired.peek() || !may("token")) return;
  const query = { assigneeId: user.id, overdue: true, limit: 1, excludeAttributes: true };
  getCounted<Ticket>("/tickets", query).then(
    ({ total }) => {
      count.value = total;
    },
    () => {},
  );
}
