import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { GroupCard } from "./GroupCard";
import "./server.css";
import { groupsOf, loadSettings } from "./settings";

/** What administrators change of the server while it runs. */
export default function Server() {
  const { value, problem, reload } = useLoaded("server settings", loadSettings);
  useEffect(() => {
    document.title = `${t("frame.server")} · Motorpool`;
  }, []);
  return (
    <div class="page server">
      <h1>{t("frame.server")}</h1>
      {may("administer") ? (
        <>
          <p class="card-text">{t("server.text")}</p>
          {problem ? <Problem problem={problem} onRetry={reload} /> : null}
          {!value && !problem && <Skeleton lines={8} label={t("common.loading")} />}
          {value &&
            groupsOf(value.value).map((group, index) => (
              <GroupCard
                key={group.name}
                group={group}
                version={value.version}
                open={index === 0}
                onChanged={reload}
              />
            ))}
        </>
      ) : (
        <p class="card-text">{t("server.mayNot")}</p>
      )}
    </div>
  );
}
