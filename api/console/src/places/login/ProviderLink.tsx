import { t } from "../../i18n/translate";
import { linkTokens } from "../../linkTokens";
import { location, withQuery } from "../../router";

/** What the server takes along: longer addresses are not gone back to. */
const MAX_LENGTH = 1024;

/** To the login at the OpenID provider, and from there to the present address. */
export function ProviderLink() {
  const query = { setup: linkTokens.setup, to: destination() };
  return (
    <a class="button" href={withQuery("/api/session/openid/auth", query)}>
      {t("login.provider")}
    </a>
  );
}

function destination(): string | null {
  const { path, query } = location.value;
  const address = withQuery(path, query);
  const isOwn = !path.startsWith("//") && path !== "/login" && path !== "/reset-password";
  return isOwn && address.length <= MAX_LENGTH ? address : null;
}
