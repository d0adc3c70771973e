import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { location } from "../../router";
import { useLoaded } from "../../state/responseCache";
import { AdminPlace } from "../admin/AdminPlace";
import { GroupCard } from "./GroupCard";
import "./server.css";
import { groupsOf, loadSettings } from "./settings";

/** What administrators change of the server while it runs. */
export default function Server() {
  return (
    <AdminPlace to="/admin/server">
      <Settings />
    </AdminPlace>
  );
}

function Settings() {
  const opened = location.value.query.get("open");
  const { value, problem, reload } = useLoaded("server settings", loadSettings);
  return (
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
            open={opened ? group.name === opened : index === 0}
            onChanged={reload}
          />
        ))}
    </>
  );
}
