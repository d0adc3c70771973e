import { useEffect } from "preact/hooks";
import { compareNames, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { may, session } from "../../state/session";
import "./helpdesk.css";
import { manages, useCompaniesWithRoles } from "./records";

/** Companies whose helpdesk the reader works at or sets up. */
export default function Helpdesk() {
  const { value, problem, reload } = useCompaniesWithRoles();
  useEffect(() => {
    document.title = `${t("frame.helpdesk")} · Motorpool`;
  }, []);
  const sorted = [...(value ?? [])].sort((one, other) => compareNames(one.company.name, other.company.name));
  const mayAdd = may("edit") && !session.value?.temporary;
  const add = mayAdd && (
    <Link class="button primary" to="/helpdesk/new">
      <Icon name="plus" size={16} />
      {t("frame.newCompany")}
    </Link>
  );
  return (
    <div class="page helpdesk">
      <header class="page-head">
        <h1>{t("frame.helpdesk")}</h1>
        {sorted.length > 0 && add}
      </header>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={4} />}
      {value?.length === 0 && (
        <Empty icon="headset" title={t("helpdesk.noCompanies")} text={t("helpdesk.noCompaniesText")}>
          {add}
        </Empty>
      )}
      {sorted.length > 0 && (
        <ul class="helpdesk-companies">
          {sorted.map(({ company, role }) => (
            <li key={company.id} class="card">
              <div>
                <h2>
                  <Link to={`/helpdesk/${company.id}`}>{company.name}</Link>
                </h2>
                <small>
                  {t(`helpdesk.role.${role}`)}
                  {company.disabled && ` · ${t("record.archived")}`}
                </small>
              </div>
              <div class="button-row">
                <Link class="button" to={`/tickets?companyId=${company.id}`}>
                  {t("helpdesk.tickets")}
                </Link>
                {role !== "linked" && (
                  <Link class="button" to={`/helpdesk/${company.id}/statistics`}>
                    {t("helpdesk.statistics")}
                  </Link>
                )}
                {manages(role) && (
                  <Link class="button" to={`/helpdesk/${company.id}`}>
                    {t("helpdesk.setUp")}
                  </Link>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
