/** The streets that the first administrator chooses on the first page, however they log in. */

import { useEffect, useState } from "preact/hooks";
import { get, put } from "../../api/call";
import type { User } from "../../api/types";
import { loadTexts } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { type Streets, settingsOf } from "../server/streets";

/** The host of streets where nothing is set. */
const DEFAULT_HOST = "https://tiles.openfreemap.org";
/** In this tab, while its reader is at the OpenID provider. */
const KEY = "motorpool.streets";

/** Whether the first administrator is asked which streets the map shows: the server has the default, and texts are there. */
export function useUnsetStreets(isNew: boolean): boolean {
  const [asks, setAsks] = useState(false);
  useEffect(() => {
    if (!isNew) return;
    const answer = fetch(`${import.meta.env.BASE_URL}map.json`).then((each) => each.json());
    Promise.all([answer as Promise<{ hosts: string[] }>, loadTexts("server")]).then(
      ([{ hosts }]) => setAsks(hosts.join() === DEFAULT_HOST),
      () => {},
    );
  }, [isNew]);
  return asks;
}

/** Keep the choice until its reader is back from the provider; null and the default are nothing to keep. */
export function keepStreets(streets: Streets | null): void {
  if (!streets || streets.kind === "openfreemap") sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(settingsOf(streets)));
}

/** Save a choice that was kept, before any map is shown; true if the page is being loaded anew, with the policy of it. */
export async function saveKeptStreets(): Promise<boolean> {
  const kept = sessionStorage.getItem(KEY);
  const user = kept && (await get<User>("/session").catch(() => null));
  // Who is not logged in may still come back.
  if (!kept || !user) return false;
  sessionStorage.removeItem(KEY);
  if (!user.administrator) return false;
  try {
    await put("/server/settings", { map: JSON.parse(kept) });
  } catch (problem) {
    toast(sentenceOf(problem), "bad");
    return false;
  }
  window.location.replace(window.location.href);
  return true;
}
