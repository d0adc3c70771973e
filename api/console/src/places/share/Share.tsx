import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { go } from "../../router";
import { acceptInvitation, invitation, session } from "../../state/session";
import { Guest } from "./Guest";
import { Notice } from "./Notice";

/** Where share links lead: guests see what is shared with them. */
export default function Share() {
  const user = session.value;
  const away = user !== null && !user?.temporary && invitation.value === null;
  useEffect(() => {
    if (away) go("/account", { replace: true });
  }, [away]);
  if (user?.temporary) return <Guest />;
  if (!user) return <Notice title={t("share.over")} text={t("share.overText")} />;
  return away ? null : <Invitation name={user.name || user.email} />;
}

/** Asks before a link ends the session of somebody who is logged in. */
function Invitation({ name }: { name: string }) {
  const [busy, setBusy] = useState(false);
  async function accept() {
    setBusy(true);
    try {
      await acceptInvitation();
    } catch (problem) {
      setBusy(false);
      toast(sentenceOf(problem), "bad");
    }
  }
  return (
    <Notice title={t("share.invited")} text={t("share.invitedText", { name })}>
      <div class="button-row">
        <button type="button" onClick={() => go("/fleet", { replace: true })}>
          {t("share.stay")}
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={() => void accept()}>
          {t("share.follow")}
        </button>
      </div>
    </Notice>
  );
}
