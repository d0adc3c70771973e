import { useState } from "preact/hooks";
import { post } from "../../api/call";
import type { Notification } from "../../api/types";
import { alarmName } from "../../format/alarms";
import { ALARMS } from "../../format/kindTable";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Check, Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { type Notices, notices, saveNotices } from "../../state/notices";
import { drop, read, useLoaded } from "../../state/responseCache";
import { may, session } from "../../state/session";
import { allowSystemNotices } from "../frame/systemNotice";

/** What is shown of events as they arrive; each choice is saved at once. */
export function NoticesDialog({ onClose }: { onClose: () => void }) {
  const chosen = notices();
  const fixed = !may("edit") || Boolean(session.value?.temporary);
  const set = (change: Partial<Notices>) => {
    saveNotices({ ...chosen, ...change }).catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
  };
  return (
    <Dialog title={t("event.noticesTitle")} onClose={onClose}>
      <p>{t("event.noticesText")}</p>
      {!fixed && <Subscription />}
      <Select
        label={t("event.noticesShow")}
        value={chosen.show}
        disabled={fixed}
        choices={[
          { value: "all", label: t("event.noticesAll") },
          { value: "alarms", label: t("event.noticesAlarms") },
          { value: "none", label: t("event.noticesNone") },
        ]}
        onChange={(value) => set({ show: value === "alarms" || value === "none" ? value : "all" })}
      />
      {chosen.show !== "none" && <Urgent chosen={chosen} fixed={fixed} set={set} />}
    </Dialog>
  );
}

interface UrgentProps {
  chosen: Notices;
  fixed: boolean;
  set: (change: Partial<Notices>) => void;
}

function Urgent({ chosen: { urgent, sound, system }, fixed, set }: UrgentProps) {
  /** Each browser is asked once, and may refuse. */
  async function setSystem(checked: boolean) {
    if (checked && !(await allowSystemNotices())) toast(t("event.noticesSystemRefused"), "bad");
    else set({ system: checked });
  }
  return (
    <>
      <Select
        label={t("event.noticesUrgent")}
        value={urgent === null ? "all" : "chosen"}
        disabled={fixed}
        choices={[
          { value: "all", label: t("event.noticesUrgentAlarms") },
          { value: "chosen", label: t("event.noticesUrgentChosen") },
        ]}
        onChange={(value) => set({ urgent: value === "all" ? null : ["sos", "accident"] })}
      />
      {urgent !== null && (
        <>
          <Picker
            label={t("event.kind")}
            items={ALARMS.filter((alarm) => !urgent.includes(alarm)).map((alarm) => ({
              id: alarm,
              name: alarmName(alarm),
            }))}
            value={null}
            disabled={fixed}
            onChange={(alarm) => alarm !== null && set({ urgent: [...urgent, String(alarm)] })}
          />
          <ul class="chips" aria-label={t("event.noticesUrgentChosen")}>
            {urgent.map((alarm) => (
              <li key={alarm}>
                <button
                  type="button"
                  class="chip"
                  disabled={fixed}
                  aria-label={t("event.withoutKind", { kind: alarmName(alarm) })}
                  onClick={() => set({ urgent: urgent.filter((each) => each !== alarm) })}
                >
                  {alarmName(alarm)}
                  <Icon name="close" size={14} />
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <Check
        label={t("event.noticesSound")}
        checked={sound}
        disabled={fixed}
        onChange={(checked) => set({ sound: checked })}
      />
      <Check
        label={t("event.noticesSystem")}
        checked={system}
        disabled={fixed}
        onChange={(checked) => void setSystem(checked)}
      />
    </>
  );
}

/** Whether alarms are sent to the page at all, and a button to have them sent. */
function Subscription() {
  const [made, setMade] = useState(false);
  const known = useLoaded("alarm notifications", () => read<Notification[]>("/notifications"));
  if (!known.value) return null;
  const sent =
    made || known.value.some((each) => each.type === "alarm" && each.notificators.split(",").includes("web"));
  if (sent) return <p>{t("event.noticesSubscribed")}</p>;
  async function subscribe() {
    try {
      await post("/notifications", {
        type: "alarm",
        always: true,
        notificators: "web",
        attributes: { alarms: ALARMS.join(",") },
      });
      drop("/notifications");
      setMade(true);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }
  return (
    <p class="notices-subscribe">
      {t("event.noticesSubscribe")}
      <button type="button" class="primary" onClick={() => void subscribe()}>
        {t("event.noticesTurnOn")}
      </button>
    </p>
  );
}
