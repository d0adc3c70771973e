/** Addresses that mails and other clients link to (docs/events.md#notifications), and the places that they mean. */

const redirects: readonly (readonly [RegExp, string])[] = [
  [/^\/event\/(\d+)$/, "/events/$1"],
  [/^\/settings\/notifications$/, "/account"],
  // The library until 0.5.
  [/^\/captures$/, "/library"],
  // The settings of the server until 0.6.
  [/^\/server$/, "/admin/server"],
];

/** The address of the place that a path means. */
export function followRedirect(path: string): string {
  const found = redirects.find(([pattern]) => pattern.test(path));
  return found ? path.replace(found[0], found[1]) : path;
}
