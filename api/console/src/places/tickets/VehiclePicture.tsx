import { useState } from "preact/hooks";
import type { MediaPage } from "../../api/types";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { read, useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { nameOf } from "../events/EventRow";

/** The latest picture that a vehicle has sent; none where there is none. It asks the vehicle for nothing. */
export function VehiclePicture({ id }: { id: number }) {
  const [broken, setBroken] = useState(false);
  const found = useLoaded(`picture ${id}`, () =>
    may("reports")
      ? read<MediaPage>("/media", { deviceId: id, kind: ["photo", "still"], limit: 1 })
      : Promise.resolve(null),
  );
  const item = found.value?.items[0];
  if (!item || broken) return null;
  const label = t("tickets.picture", { name: nameOf(id), at: dateTime(Date.parse(item.time), style.value) });
  return (
    <img
      class="ticket-picture"
      src={item.pictureUrl ?? item.url}
      alt={label}
      title={label}
      loading="lazy"
      onError={() => setBroken(true)}
    />
  );
}
