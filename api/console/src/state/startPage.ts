/** Where the page begins: an attribute of the user; the fleet unless something else was chosen. */

import { may, saveAttributes, session } from "./session";

const ATTRIBUTE = "console.start";
const OVERVIEW = "overview";

/** The address that `/` leads to. */
export function startPage(): "/overview" | "/fleet" {
  const user = session.value;
  const isChosen = user?.attributes[ATTRIBUTE] === OVERVIEW;
  return isChosen && !user?.temporary && may("reports") ? "/overview" : "/fleet";
}

/** Begin with the overview from now on, or with the fleet. Throws a `Problem`. */
export function beginWith(page: "/overview" | "/fleet"): Promise<void> {
  return saveAttributes({ [ATTRIBUTE]: page === "/overview" ? OVERVIEW : null });
}
