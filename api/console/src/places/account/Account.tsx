import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { location } from "../../router";
import "./account.css";
import { Codes } from "./Codes";
import { OwnNotifications } from "./OwnNotifications";
import { Password } from "./Password";
import { Preferences } from "./Preferences";
import { Profile } from "./Profile";
import { Sessions } from "./Sessions";
import { Shares } from "./Shares";
import { Tokens } from "./Tokens";

/** What users set about themselves. */
export default function Account() {
  const section = location.value.query.get("section");
  useEffect(() => {
    const heading = section && document.getElementById(section)?.querySelector("h2");
    // The heading, so that the next Tab is at the first field of the section.
    if (heading) heading.focus();
  }, [section]);
  useEffect(() => {
    document.title = `${t("account.title")} · Motorpool`;
  }, []);
  return (
    <div class="page account">
      <h1>{t("account.title")}</h1>
      <Profile />
      <Preferences />
      <OwnNotifications />
      <Password />
      <Codes />
      <Sessions />
      <Tokens />
      <Shares />
    </div>
  );
}
