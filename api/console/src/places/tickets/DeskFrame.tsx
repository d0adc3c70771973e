import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Tabs } from "../../parts/Tabs";
import { go, location, withQuery } from "../../router";
import { routes } from "../../routes";
import { may } from "../../state/session";
import { chooseCompany, companyOf, type Desk, useDesk, useMyCompanies } from "./company";
import { NewTicketDialog } from "./NewTicketDialog";
import "../vehicle/vehicle.css";
import "./tickets.css";

export type DeskTab = "start" | "list" | "board";
const ADDRESSES: Record<DeskTab, string> = {
  start: "/tickets",
  list: "/tickets/list",
  board: "/tickets/board",
};

interface DeskFrameProps {
  tab: DeskTab;
  children: (desk: Desk) => ComponentChildren;
}

/** The head of the helpdesk: its places, the company, and a way to make a ticket; below it what a place shows. */
export function DeskFrame({ tab, children }: DeskFrameProps) {
  const companies = useMyCompanies();
  const company = companies.value && companyOf(companies.value);
  const desk = useDesk(company?.id ?? 0);
  const [making, setMaking] = useState(false);
  const mayMake = may("edit") && company !== undefined && !company.disabled;
  useEffect(() => {
    document.title = `${t("frame.tickets")} · Motorpool`;
  }, []);
  useKeys("tickets", {
    create: () => {
      if (mayMake) setMaking(true);
      return mayMake;
    },
  });
  const problem = companies.problem ?? desk.problem;
  const reload = companies.problem === null ? desk.reload : companies.reload;
  return (
    <div class={`desk desk-${tab}`}>
      <header class="desk-head">
        <h1>{t("frame.tickets")}</h1>
        {company && (
          <Tabs
            label={t("tickets.places")}
            chosen={tab}
            onChoose={go}
            tabs={(["start", "list", "board"] as const)
              .filter((key) => exists(ADDRESSES[key]))
              .map((key) => ({ key, label: t(`tickets.tab.${key}`), href: ADDRESSES[key] }))}
          />
        )}
        {companies.value && companies.value.length > 1 && company && (
          <Select
            label={t("event.company")}
            value={String(company.id)}
            choices={companies.value.map(({ id, name }) => ({ value: String(id), label: name }))}
            onChange={(id) => {
              chooseCompany(Number(id));
              // Filters name what the other company has.
              go(withQuery(location.value.path, {}), { replace: true });
            }}
          />
        )}
        {mayMake && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" size={18} />
            {t("tickets.make")}
          </button>
        )}
      </header>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {problem === null && companies.value && !company && <NoCompany />}
      {problem === null && (!companies.value || (company && !desk.value)) && (
        <Skeleton label={t("common.loading")} lines={8} />
      )}
      {desk.value && children(desk.value)}
      {making && desk.value && <NewTicketDialog desk={desk.value} onClose={() => setMaking(false)} />}
    </div>
  );
}

function NoCompany() {
  return (
    <Empty icon="ticket" title={t("tickets.noCompany")} text={t("tickets.noCompanyText")}>
      {may("edit") && exists("/helpdesk") && (
        <Link to="/helpdesk" class="button primary">
          {t("tickets.setUp")}
        </Link>
      )}
    </Empty>
  );
}

function exists(address: string): boolean {
  return routes.some(({ pattern }) => pattern === address);
}
