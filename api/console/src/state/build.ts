/** Whether the server has another build of the page than the one that runs. */

import { type ReadonlySignal, signal } from "@preact/signals";

const other = signal(false);
/** The page offers to load itself again; it never does so by itself. */
export const outdated: ReadonlySignal<boolean> = other;

/** Tell from the server's page whether it begins with another script; its name changes with each build. */
export function isOther(page: string, script: string): boolean {
  return page.includes('src="/console/assets/') && !page.includes(`src="${script}"`);
}

/** Ask the server for its page; only a restart of the server brings another build. */
export async function checkBuild(): Promise<void> {
  const script = document.querySelector('script[src^="/console/assets/"]')?.getAttribute("src");
  if (!script || other.value) return;
  const answer = await fetch("/fleet", { headers: { Accept: "text/html" }, cache: "no-cache" });
  if (answer.ok && isOther(await answer.text(), script)) other.value = true;
}
