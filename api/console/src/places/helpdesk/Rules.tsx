import { useState } from "preact/hooks";
import type { Company, Team, TicketCategory, TicketPriority } from "../../api/types";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { EditButtons } from "../../records/EditButtons";
import { ArchiveButton } from "../../records/RecordList";
import { changeRecord } from "../../records/records";
import { style } from "../../state/session";
import type { SectionProps } from "./CompanyPlace";
import { RuleDialog } from "./RuleDialog";
import { useRecords } from "./records";
import { kindsText, newRule, type Rule, rulesOf, withRule } from "./rule";

/** What a rule may name of its company. */
export interface OfCompany {
  categories: readonly TicketCategory[];
  priorities: readonly TicketPriority[];
  teams: readonly Team[];
}

/** Store the rules of a company as `change` makes them of those that are there now. Throws a `Problem`. */
export function saveRules(
  companyId: number,
  change: (now: readonly Rule[]) => readonly Rule[],
): Promise<Company> {
  return changeRecord<Company>("/companies", companyId, (now) => ({
    ...now,
    attributes: { ...now.attributes, ticketRules: change(rulesOf(now.attributes)) },
  }));
}

/** Tickets that open by themselves when a vehicle has an event. */
export function Rules({ company, mayEdit, onChanged }: SectionProps) {
  const categories = useRecords<TicketCategory>("/ticketcategories", company.id).value ?? [];
  const priorities = useRecords<TicketPriority>("/ticketpriorities", company.id).value ?? [];
  const teams = useRecords<Team>("/teams", company.id).value ?? [];
  const [edited, setEdited] = useState<Rule | null>(null);
  const rules = rulesOf(company.attributes);
  const save = async (change: (now: readonly Rule[]) => readonly Rule[], said: string, undo: () => void) => {
    try {
      await saveRules(company.id, change);
      onChanged();
      toast(said, "good", { label: t("common.undo"), run: undo });
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  };
  const put = (rule: Rule) =>
    void saveRules(company.id, (now) => withRule(now, rule)).then(onChanged, (problem: unknown) =>
      toast(sentenceOf(problem), "bad"),
    );
  const setDisabled = (rule: Rule, disabled: boolean) =>
    void save(
      (now) => withRule(now, { ...rule, disabled }),
      t(disabled ? "record.wasArchived" : "record.wasRestored", { name: rule.name }),
      () => put(rule),
    );
  const drop = (rule: Rule) =>
    void save(
      (now) => now.filter(({ id }) => id !== rule.id),
      t("helpdesk.wasDeleted", { name: rule.name }),
      () => put(rule),
    );
  const add = mayEdit && (
    <button type="button" class={rules.length > 0 ? "" : "primary"} onClick={() => setEdited(newRule())}>
      <Icon name="plus" size={16} />
      {t("helpdesk.newRule")}
    </button>
  );
  return (
    <section class="card" aria-label={t("helpdesk.rules")}>
      <header class="page-head">
        <h2>{t("helpdesk.rulesTitle")}</h2>
        {rules.length > 0 && add}
      </header>
      {rules.length === 0 && (
        <Empty icon="alarm" title={t("helpdesk.noRules")} text={t("helpdesk.noRulesText")}>
          {add}
        </Empty>
      )}
      <ul class="record-rows">
        {rules.map((rule) => (
          <li key={rule.id} class={rule.disabled ? "archived" : ""}>
            <div>
              <strong>{rule.name}</strong>
              {rule.disabled && <small>{t("record.archived")}</small>}
              <p>{t("helpdesk.whenText", { kinds: kindsText(rule, style.value.language) })}</p>
              <p>{becomesText(rule, { categories, priorities, teams })}</p>
            </div>
            {mayEdit && (
              <div class="button-row">
                <ArchiveButton
                  name={rule.name}
                  isArchived={rule.disabled}
                  onChange={(disabled) => setDisabled(rule, disabled)}
                />
                <EditButtons name={rule.name} onEdit={() => setEdited(rule)} onDelete={() => drop(rule)} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {edited && (
        <RuleDialog
          company={company}
          stored={edited}
          of={{ categories, priorities, teams }}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            onChanged();
          }}
        />
      )}
    </section>
  );
}

function becomesText({ then }: Rule, { categories, priorities, teams }: OfCompany): string {
  const parts = [
    then.subject && t("helpdesk.quoted", { text: then.subject }),
    categories.find(({ id }) => id === then.categoryId)?.name,
    priorities.find(({ id }) => id === then.priorityId)?.name,
    teams.find(({ id }) => id === then.teamId)?.name,
  ].filter(Boolean);
  return parts.length > 0 ? t("helpdesk.becomes", { what: parts.join(" · ") }) : "";
}
