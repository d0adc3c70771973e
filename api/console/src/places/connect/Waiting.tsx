import { useState } from "preact/hooks";
import { getVersioned, put } from "../../api/call";
import type { Device } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { copy } from "../../parts/copy";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { sentenceOf } from "../../parts/Problem";
import { applyMessage, device, loadDevice, loaded, position } from "../../state/fleet";
import { drop, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { now } from "../../time/clock";
import { OtherLogins } from "../vehicle/OtherLogins";
import { StatusMark } from "../vehicle/StatusMark";
import { Arrived } from "./Arrived";
import { Checks } from "./Checks";
import { FindingCard } from "./FindingCard";
import { findingOf } from "./finding";
import { Others } from "./Others";
import { titleOf } from "./titles";
import type { Tracker } from "./trackers";
import type { Sender } from "./unclaimedSenders";
import { useUnclaimedSenders } from "./useUnclaimedSenders";

interface WaitingProps {
  id: number;
  tracker: Tracker | null;
  trackers: readonly Tracker[];
  host: string;
}

/** The third step: whether the tracker reports, and if not, what is wrong. */
export function Waiting({ id, tracker, trackers, host }: WaitingProps) {
  const read = useLoaded(`connect ${id}`, (signal) => loadDevice(id, signal));
  const found = device(id).value;
  const at = position(id).value;
  const heard = useUnclaimedSenders({ uniqueId: found?.uniqueId ?? "", deviceId: id });
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  if (!found && read.problem !== null) return <Empty icon="pin" title={t("vehicle.missing")} />;
  if (!found || !loaded.value) return <Skeleton label={t("common.loading")} lines={4} />;
  const finding = findingOf(found, at, heard, now.value);
  const arrived = finding.kind === "reports";
  const shown = "sender" in finding ? finding.sender.key : "";
  const others = heard.filter((each) => each.key !== shown && each.deviceId !== id);

  /** Give the vehicle the number that was heard; the tracker comes in with its next attempt. */
  async function take({ uniqueId }: Sender) {
    setBusy(true);
    setSaid("");
    try {
      const { value, version } = await getVersioned<Device>(`/devices/${id}`);
      const named = value.name === value.uniqueId ? { name: uniqueId } : {};
      const saved = await put<Device>(`/devices/${id}`, { ...value, ...named, uniqueId }, version);
      applyMessage({ devices: [saved] });
      drop("/devices");
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
  }
  const onTake = may("editDevices") && !busy ? take : null;

  return (
    <>
      <section class="card connect-waiting" aria-label={t("connect.wait")}>
        <h2>{arrived ? found.name : t("connect.waiting", { number: found.uniqueId })}</h2>
        <p class="connect-status">
          <StatusMark of={found} at={at} />
          {found.name !== found.uniqueId && !arrived && <span>{found.name}</span>}
        </p>
        <FindingCard finding={finding} device={found} trackers={trackers} onTake={onTake} />
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
      </section>
      {may("editDevices") && <OtherLogins id={id} titleOf={(name) => titleOf(trackers, name)} />}
      {!arrived && others.length > 0 && <Others senders={others} trackers={trackers} onTake={onTake} />}
      {finding.kind === "nothing" && <Checks device={found} tracker={tracker} host={host} />}
      <div class="connect-end">
        {!arrived && !may("administer") && (
          <button type="button" onClick={() => copy(window.location.href)}>
            <Icon name="link" size={18} />
            {t("connect.copyLink")}
          </button>
        )}
        <Link class="button" to={`/vehicles/${id}`}>
          {t(arrived ? "connect.open" : "connect.later")}
        </Link>
        {arrived && may("addDevices") && (
          <Link class="button" to="/connect">
            {t("connect.another")}
          </Link>
        )}
      </div>
      {arrived && <Arrived device={found} position={at} />}
    </>
  );
}
