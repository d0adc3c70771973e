import { useState } from "preact/hooks";
import { get, post } from "../api/call";
import type { FailingReceiver, NotificatorType } from "../api/types";
import { dateTime } from "../format/times";
import { t } from "../i18n/translate";
import { Icon } from "../parts/Icon";
import { Skeleton } from "../parts/Late";
import { Problem, sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { useLoaded } from "../state/responseCache";
import { style } from "../state/session";
import { channelName } from "./channels";
import "./notifications.css";

/** A command carries no text, so that it cannot be tested. */
const UNTESTABLE = "command";

/** The ways by which the server reaches the reader, each with a test, and what fails. */
export function Channels() {
  const offered = useLoaded("notificators", (signal) =>
    get<readonly NotificatorType[]>("/notifications/notificators", undefined, signal),
  );
  const failing = useLoaded("failing notificators", (signal) =>
    get<readonly FailingReceiver[]>("/notifications/failing", undefined, signal),
  );
  if (offered.problem !== null) return <Problem problem={offered.problem} onRetry={offered.reload} />;
  if (!offered.value) return <Skeleton label={t("common.loading")} lines={3} />;
  return (
    <ul class="record-rows" aria-label={t("notification.channels")}>
      {offered.value
        .filter(({ type }) => type !== UNTESTABLE)
        .map(({ type }) => (
          <Channel
            key={type}
            name={type}
            failing={failing.value?.find(({ notificator }) => notificator === type)}
            onTested={failing.reload}
          />
        ))}
    </ul>
  );
}

interface ChannelProps {
  name: string;
  failing: FailingReceiver | undefined;
  onTested: () => void;
}

function Channel({ name, failing, onTested }: ChannelProps) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  async function test() {
    setBusy(true);
    setSaid("");
    try {
      await post(`/notifications/test/${name}`);
      toast(t("notification.wasTested", { channel: channelName(name) }));
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
    onTested();
  }
  return (
    <li>
      <div>
        <strong>{channelName(name)}</strong>
        {failing && (
          <p class="refusal">
            <Icon name="warning" size={16} />{" "}
            {t(failing.paused ? "notification.paused" : "notification.failing", {
              at: dateTime(Date.parse(failing.since), style.value),
              error: failing.lastError,
            })}
          </p>
        )}
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
      </div>
      <div class="button-row">
        <button
          type="button"
          disabled={busy}
          aria-label={t("notification.testBy", { channel: channelName(name) })}
          onClick={() => void test()}
        >
          {t("notification.test")}
        </button>
      </div>
    </li>
  );
}
