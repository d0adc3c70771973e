import { useState } from "preact/hooks";
import { post } from "../../api/call";
import type { Group, ShareInfo } from "../../api/types";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { linkWith } from "../../linkTokens";
import { CopyField } from "../../parts/CopyField";
import { Dialog } from "../../parts/Dialog";
import { Select } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { QrCode } from "../../parts/QrCode";
import { device, loadDevice, position } from "../../state/fleet";
import { read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { camerasOf } from "../../video/channels";
import { ShareList, useShares } from "./ShareList";
import "./share.css";

const HOUR_MS = 3_600_000;
const HOURS = [1, 4, 12, 24, 72, 168, 720];

/** Share a vehicle, or its group, by a link that ends; what is shared already is listed with it. */
export default function ShareDialog({ id, onClose }: { id: number; onClose: () => void }) {
  const shares = useShares();
  const details = useLoaded(`device ${id}`, (signal) => loadDevice(id, signal));
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const [what, setWhat] = useState<"device" | "group">("device");
  const [hours, setHours] = useState(24);
  const [issued, setIssued] = useState<{ link: string; ids: ReadonlySet<string> } | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const found = device(id).value;
  const group = groups.value?.find((each) => each.id === found?.groupId);
  const whole = what === "group" && group !== undefined;
  const name = whole ? group.name : (found?.name ?? "");
  const mine = (each: ShareInfo) =>
    each.deviceId === id || (group !== undefined && each.groupId === group.id);

  function choose(change: () => void) {
    change();
    setIssued(null);
  }

  async function issue() {
    setBusy(true);
    setSaid("");
    const expiration = new Date(Date.now() + hours * HOUR_MS).toISOString();
    const form = whole ? { groupId: String(group.id), expiration } : { deviceId: String(id), expiration };
    try {
      const before = new Set((shares.value ?? []).map((each) => each.id));
      const token = await post<string>(`/share/${whole ? "group" : "device"}`, new URLSearchParams(form));
      setIssued({ link: linkWith("/share", { token }), ids: before });
      shares.reload();
    } catch (problem) {
      setSaid(sentenceOf(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog title={t("share.title", { name })} onClose={onClose} wide>
      <div class="share-form">
        {group && (
          <Select
            label={t("share.what")}
            value={what}
            choices={[
              { value: "device", label: found?.name ?? "" },
              { value: "group", label: t("share.group", { name: group.name }) },
            ]}
            onChange={(value) => choose(() => setWhat(value === "group" ? "group" : "device"))}
          />
        )}
        <Select
          label={t("share.for")}
          value={String(hours)}
          choices={HOURS.map((count) => ({
            value: String(count),
            label:
              count < 24 ? t("share.hours", { count }) : t("share.days", { count: Math.round(count / 24) }),
          }))}
          hint={t("share.until", { time: dateTime(now.value + hours * HOUR_MS, style.value) })}
          onChange={(value) => choose(() => setHours(Number(value)))}
        />
        <section class="share-seen" aria-label={t("share.seen")}>
          <h3>{t("share.seen")}</h3>
          <ul>
            <li>{whole ? t("share.seenGroup", { name: group.name }) : t("share.seenVehicle", { name })}</li>
            {(whole || (details.value && camerasOf(details.value, position(id).value).length > 0)) && (
              <li>{t("share.seenLive")}</li>
            )}
            <li>{t("share.seenNothing")}</li>
          </ul>
        </section>
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
        {!issued && (
          <div class="button-row">
            <button type="button" class="primary" disabled={busy} autofocus onClick={() => void issue()}>
              {t("share.make")}
            </button>
          </div>
        )}
      </div>
      {issued && <Issued link={issued.link} />}
      <section class="share-list" aria-labelledby="share-list">
        <h3 id="share-list">{t("share.list")}</h3>
        <ShareList
          shares={shares}
          shown={mine}
          onEnd={(ended) => {
            if (issued && !issued.ids.has(ended.id)) setIssued(null);
          }}
        />
      </section>
    </Dialog>
  );
}

/** A link that was just made; it is not shown again. */
function Issued({ link }: { link: string }) {
  return (
    <section class="share-issued" aria-label={t("share.link")}>
      <QrCode text={link} label={t("share.picture")} />
      <div>
        <p role="status">{t("share.once")}</p>
        <CopyField label={t("share.link")} value={link} />
      </div>
    </section>
  );
}
