import { useState } from "preact/hooks";
import { post } from "../../api/call";
import type { User } from "../../api/types";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { changeRecord, deleteRecord } from "../../records/records";
import { go } from "../../router";
import { actAs, may, server, session } from "../../state/session";
import { now } from "../../time/clock";
import { nameOf, stateOf } from "./users";

interface UserActsProps {
  user: User;
  onChanged: () => void;
}

/** What is done with a user at once; what the reader may not do is not there. */
export function UserActs({ user, onChanged }: UserActsProps) {
  const [asked, setAsked] = useState<"act" | "delete" | null>(null);
  const [busy, setBusy] = useState(false);
  const name = nameOf(user);
  const isOwn = user.id === session.value?.id;
  const logsIn = stateOf(user, now.value) === "active" && !user.temporary;
  const attempt = async (act: () => Promise<unknown>, said: string) => {
    setBusy(true);
    try {
      await act();
      toast(said);
      onChanged();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    } finally {
      setBusy(false);
    }
  };
  const disable = async (disabled: boolean) =>
    attempt(
      () => changeRecord<User>("/users", user.id, (found) => ({ ...found, disabled })),
      t(disabled ? "people.wasDisabled" : "people.wasEnabled", { name }),
    );
  if (isOwn || session.value?.impersonatorId) return null;
  return (
    <div class="button-row people-acts">
      {logsIn && (
        <button
          type="button"
          disabled={busy}
          onClick={() =>
            void actAs(user.id, true).catch((problem: unknown) => toast(sentenceOf(problem), "bad"))
          }
        >
          <Icon name="eye" size={16} />
          {t("people.eyes", { name })}
        </button>
      )}
      {logsIn && may("edit") && (
        <button type="button" disabled={busy} onClick={() => setAsked("act")}>
          <Icon name="user" size={16} />
          {t("people.actAs")}
        </button>
      )}
      {logsIn && may("edit") && server.value?.emailEnabled && (
        <button
          type="button"
          disabled={busy}
          onClick={() => void attempt(() => invite(user.id), t("people.invited", { email: user.email }))}
        >
          <Icon name="share" size={16} />
          {t("people.invite")}
        </button>
      )}
      {may("edit") && !user.temporary && (
        <button type="button" disabled={busy} onClick={() => void disable(!user.disabled)}>
          <Icon name={user.disabled ? "check" : "minus"} size={16} />
          {t(user.disabled ? "people.enable" : "people.disable")}
        </button>
      )}
      {may("edit") && (
        <button type="button" class="quiet dangerous" disabled={busy} onClick={() => setAsked("delete")}>
          <Icon name="trash" size={16} />
          {t("common.delete")}
        </button>
      )}
      {asked === "act" && (
        <Question
          title={t("people.actAsTitle", { name })}
          text={t("people.actAsText")}
          act={t("people.actAs")}
          run={() => actAs(user.id, false)}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "delete" && (
        <Question
          title={t("people.deleteTitle", { name })}
          text={t("people.deleteText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord("/users", user.id);
            toast(t("people.deleted", { name }));
            go("/admin/users", { replace: true });
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}

/** Mail a user a link to set a password. Throws a `Problem`. */
export function invite(userId: number): Promise<unknown> {
  return post(`/users/${userId}/invitation`);
}
