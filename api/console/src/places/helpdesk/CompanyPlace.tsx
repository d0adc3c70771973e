import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import type { Company } from "../../api/types";
import { type Key, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Sections } from "../../parts/Sections";
import { go } from "../../router";
import type { PlaceProps } from "../../routes";
import { Branches } from "./Branches";
import { Categories } from "./Categories";
import { Contacts } from "./Contacts";
import { General } from "./General";
import "./helpdesk.css";
import { People } from "./People";
import { Priorities } from "./Priorities";
import { Rules } from "./Rules";
import { handles, manages, type Role, useCompany, useRole } from "./records";
import { Statistics } from "./Statistics";
import { Webhook } from "./Webhook";
import { Workflow } from "./Workflow";

/** What a section is given. */
export interface SectionProps {
  company: Company;
  role: Role;
  /** Whether the reader may change what it shows. */
  mayEdit: boolean;
  /** The company was changed. */
  onChanged: () => void;
}

interface SectionEntry {
  /** In the address; empty for the first. */
  key: string;
  label: Key;
  show: ComponentType<SectionProps>;
  /** Who sees it; without it everybody who is linked. */
  seenBy?: (role: Role) => boolean;
  /** Who changes it; without it managers. */
  changedBy?: (role: Role) => boolean;
}

const SECTIONS: readonly SectionEntry[] = [
  { key: "", label: "helpdesk.general", show: General },
  { key: "people", label: "helpdesk.people", show: People },
  { key: "branches", label: "helpdesk.branches", show: Branches },
  { key: "contacts", label: "helpdesk.contacts", show: Contacts, changedBy: handles },
  { key: "categories", label: "helpdesk.categories", show: Categories },
  { key: "priorities", label: "helpdesk.priorities", show: Priorities },
  { key: "workflow", label: "helpdesk.workflow", show: Workflow },
  { key: "rules", label: "helpdesk.rules", show: Rules },
  { key: "webhook", label: "helpdesk.webhook", show: Webhook, seenBy: manages },
  { key: "statistics", label: "helpdesk.statistics", show: Statistics, seenBy: handles },
];

/** A company of the helpdesk: what it is made of, one section at a time. */
export default function CompanyPlace({ params }: PlaceProps) {
  const id = Number(params.id);
  const { value: company, problem, reload } = useCompany(id);
  const role = useRole(id);
  const seen = SECTIONS.filter(({ seenBy }) => role && (seenBy?.(role) ?? true));
  const section = seen.find(({ key }) => key === (params.section ?? "")) ?? seen[0];
  const name = company?.name ?? t("frame.helpdesk");
  useEffect(() => {
    document.title = `${name}${section?.key ? ` · ${t(section.label)}` : ""} · Motorpool`;
  }, [name, section]);
  const Shown = section?.show;
  return (
    <div class="page helpdesk helpdesk-wide">
      <header class="page-head">
        <div>
          <Link class="helpdesk-back" to="/helpdesk">
            <Icon name="back" size={16} />
            {t("frame.helpdesk")}
          </Link>
          <h1>{name}</h1>
        </div>
        {company && (
          <Link class="button" to={`/tickets?companyId=${id}`}>
            {t("helpdesk.tickets")}
          </Link>
        )}
      </header>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!company && problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {company && role === null && <p class="card-text">{t("problem.missing")}</p>}
      {company && role && Shown && section && (
        <Sections
          label={t("helpdesk.sections")}
          tabs={seen.map(({ key, label }) => ({ key, label: t(label), href: addressOf(id, key) }))}
          chosen={section.key}
          onChoose={go}
        >
          {!(section.changedBy ?? manages)(role) && section.key !== "statistics" && (
            <p class="helpdesk-readonly">
              {t(section.changedBy === handles ? "helpdesk.onlyAgents" : "helpdesk.onlyManagers")}
            </p>
          )}
          <Shown
            key={`${id} ${section.key}`}
            company={company}
            role={role}
            mayEdit={(section.changedBy ?? manages)(role)}
            onChanged={reload}
          />
        </Sections>
      )}
    </div>
  );
}

/** The address of a section of a company. */
export function addressOf(id: number, section: string): string {
  return section ? `/helpdesk/${id}/${section}` : `/helpdesk/${id}`;
}
