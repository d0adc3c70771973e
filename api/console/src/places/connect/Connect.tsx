import { useEffect, useRef } from "preact/hooks";
import type { Protocol } from "../../api/types";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { location } from "../../router";
import { read, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { ChooseTracker } from "./ChooseTracker";
import { SetUp } from "./SetUp";
import { trackersOf } from "./trackers";
import { Waiting } from "./Waiting";
import "../vehicle/vehicle.css";
import "./connect.css";

const STEPS = ["connect.what", "connect.setUp", "connect.wait"] as const;
/** As `protocol` of the address, where only the number is known. */
export const ANY = "any";

/** Connect a tracker: what it is, what is set in it, and whether it reports; each step has an address. */
export default function Connect() {
  const { query } = location.value;
  const protocol = query.get("protocol");
  const device = Number(query.get("deviceId"));
  const step = device > 0 ? 2 : protocol ? 1 : 0;
  const loaded = useLoaded("protocols", () => read<Protocol[]>("/server/protocols"));
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${t("fleet.connect")} · Motorpool`;
    // Who reads with a screen reader begins with the step that has just been reached.
    if (step > 0) title.current?.focus();
  }, [step]);
  if (!may("addDevices") && step < 2) return <Empty icon="car" title={t("connect.mayNot")} />;
  const host = window.location.hostname.replace(/^\[|\]$/g, "");
  const trackers = loaded.value && trackersOf(loaded.value, host);
  const tracker = trackers?.find(({ name }) => name === protocol) ?? null;
  return (
    <div class="connect">
      <header>
        <h1 ref={title} tabIndex={-1}>
          {t("fleet.connect")}
        </h1>
        <ol class="connect-steps">
          {STEPS.map((label, index) => (
            <li
              key={label}
              class={index < step ? "done" : ""}
              aria-current={index === step ? "step" : undefined}
            >
              {t(label)}
            </li>
          ))}
        </ol>
      </header>
      {loaded.problem !== null && <Problem problem={loaded.problem} onRetry={loaded.reload} />}
      {!trackers && loaded.problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {trackers && step === 0 && <ChooseTracker trackers={trackers} />}
      {trackers && step === 1 && (
        <SetUp
          key={protocol}
          tracker={tracker}
          trackers={trackers}
          host={loaded.value?.[0]?.host ?? host}
          uniqueId={query.get("uniqueId") ?? ""}
        />
      )}
      {trackers && step === 2 && (
        <Waiting
          key={device}
          id={device}
          tracker={tracker}
          trackers={trackers}
          host={loaded.value?.[0]?.host ?? host}
        />
      )}
    </div>
  );
}
