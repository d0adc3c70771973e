import { useState } from "preact/hooks";
import { address, Problem } from "../../api/call";
import { t } from "../../i18n/translate";
import { linkTokens } from "../../linkTokens";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { location, withQuery } from "../../router";
import { setupHeaders } from "./setup";

/** What the server takes along: longer addresses are not gone back to. */
const MAX_LENGTH = 1024;

/** To the login at the OpenID provider, and from there to the present address. */
export function ProviderLink({ onLeave = () => {} }: { onLeave?: () => void }) {
  const [busy, setBusy] = useState(false);
  const to = destination();

  /** The set-up token is in no address, so a request has to bring it. */
  async function begin() {
    setBusy(true);
    onLeave();
    try {
      const answer = await fetch(address("/session/openid/auth"), {
        method: "POST",
        credentials: "same-origin",
        headers: setupHeaders(),
        body: new URLSearchParams(to ? { to } : {}),
      });
      if (!answer.ok) throw new Problem(answer.status, await answer.text());
      window.location.assign(await answer.text());
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
    }
  }

  if (!linkTokens.setup) {
    return (
      <a class="button" href={withQuery("/api/session/openid/auth", { to })} onClick={onLeave}>
        {t("login.provider")}
      </a>
    );
  }
  return (
    <button type="button" disabled={busy} onClick={() => void begin()}>
      {t("login.provider")}
    </button>
  );
}

function destination(): string | null {
  const { path, query } = location.value;
  const address = withQuery(path, query);
  const isOwn = !path.startsWith("//") && path !== "/login" && path !== "/reset-password";
  return isOwn && address.length <= MAX_LENGTH ? address : null;
}
