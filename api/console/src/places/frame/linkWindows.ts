/** Shows in this window the vehicle that is chosen in a linked one, and the other way round. */

import { effect } from "@preact/signals";
import { go, location } from "../../router";
import { chooseVehicle, chosenElsewhere, joinWindows } from "../../state/linkedWindows";
import { session } from "../../state/session";
import { addressFor } from "./sameVehicle";

/** Begin to follow. Places that show many vehicles, such as the wall, read `chosenElsewhere` themselves. */
export function linkWindows(): void {
  effect(() => {
    const user = session.value;
    joinWindows(user && !user.temporary ? user.id : null);
  });
  effect(() => {
    const { path, params } = location.value;
    const id = Number(params.id);
    if (path.startsWith("/vehicles/") && id > 0) chooseVehicle(id);
  });
  effect(() => {
    const chosen = chosenElsewhere.value;
    if (!chosen) return;
    const to = addressFor(chosen.vehicle, location.peek());
    if (to) go(to);
  });
}
