/** What happens once when the page begins. */

import { effect, signal } from "@preact/signals";
import { delayOf } from "../../api/backoff";
import { onOpen } from "../../api/socket";
import { startKeys } from "../../keys/listen";
import { go, location, startRouter } from "../../router";
import { routes } from "../../routes";
import { followAnnouncement } from "../../state/announcement";
import { checkBuild } from "../../state/build";
import { startLive } from "../../state/live";
import { checkSession, session, startSession } from "../../state/session";
import { startPage } from "../../state/startPage";
import { startTicketCount } from "../../state/tickets";
import { startClock } from "../../time/clock";
import { startCaptures } from "../../video/recorded/captures";
import { saveKeptStreets } from "../login/firstStreets";
import { announceEvents } from "./alarms";
import { keepFocus } from "./focus";
import { linkWindows } from "./linkWindows";
import { applyTheme, followPrinting } from "./theme";

/** What the start failed with, until it works. */
export const failure = signal<unknown>(null);

/** Read session and language, then follow address, socket and keys. Tries again until the server answers. */
export async function start(token: string | null): Promise<void> {
  applyTheme();
  followPrinting();
  startClock();
  startRouter(routes.map((route) => route.pattern));
  if (await saveKeptStreets()) return;
  startKeys(() => session.value?.attributes["console.singleKeys"] !== false);
  for (let attempt = 0; session.value === undefined; attempt += 1) {
    try {
      await startSession(token, location.peek().path === "/share");
      failure.value = null;
    } catch (problem) {
      failure.value = problem;
      await new Promise((resolve) => setTimeout(resolve, delayOf(attempt) * 1000));
    }
  }
  keepFocus();
  startLive();
  startCaptures();
  startTicketCount();
  announceEvents();
  followAnnouncement();
  followBuilds();
  linkWindows();
  effect(() => {
    // With a query it is an address of the fleet.
    const { path, query } = location.value;
    if (session.value && path === "/" && query.size === 0 && startPage() !== "/fleet")
      go(startPage(), { replace: true });
  });
  effect(() => applyTheme(session.value?.attributes["console.theme"]));
  // A page out of the back/forward cache may be one of before a log-out, here or in another page.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    if (session.value) void checkSession();
    else window.location.reload();
  });
}

/** Look for another build each time the socket opens again: the server may have been restarted. */
function followBuilds(): void {
  let first = true;
  onOpen(async () => {
    if (!first) await checkBuild().catch(() => {});
    first = false;
  });
}
