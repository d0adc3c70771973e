import { useState } from "preact/hooks";
import { get, remove } from "../../api/call";
import type { Group, ShareInfo } from "../../api/types";
import { shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device } from "../../state/fleet";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import "./share.css";

/** The share links of the user that have not ended. */
export function useShares(): Loaded<ShareInfo[]> {
  return useLoaded("shares", (signal) => get<ShareInfo[]>("/shares", undefined, signal));
}

interface ShareListProps {
  shares: Loaded<ShareInfo[]>;
  shown?: (share: ShareInfo) => boolean;
  onEnd?: (share: ShareInfo) => void;
}

/** What is shared, until when, each with a button that ends it. */
export function ShareList({ shares, shown = () => true, onEnd }: ShareListProps) {
  const [busy, setBusy] = useState(false);
  const listed = (shares.value ?? []).filter(shown);
  const time = (text: string) => shortTime(Date.parse(text), now.value, style.value);

  async function end(share: ShareInfo) {
    setBusy(true);
    try {
      await remove(`/shares/${share.id}`);
      onEnd?.(share);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
    shares.reload();
  }

  if (shares.problem !== null) return <Problem problem={shares.problem} onRetry={shares.reload} />;
  if (!shares.value) return null;
  if (listed.length === 0) return <p class="share-none">{t("share.none")}</p>;
  return (
    <ul class="share-links">
      {listed.map((each) => (
        <li key={each.id}>
          <div>
            <strong>
              <SharedName of={each} />
            </strong>
            <small>{t("share.times", { issued: time(each.issued), expires: time(each.expires) })}</small>
          </div>
          <button type="button" class="quiet" disabled={busy} onClick={() => void end(each)}>
            {t("share.end")}
          </button>
        </li>
      ))}
    </ul>
  );
}

function SharedName({ of: { deviceId, groupId } }: { of: ShareInfo }) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const vehicle = device(deviceId).value;
  if (deviceId !== 0) return <>{vehicle?.name ?? t("share.gone")}</>;
  const group = groups.value?.find((each) => each.id === groupId);
  return <>{group ? t("share.group", { name: group.name }) : t("share.gone")}</>;
}
