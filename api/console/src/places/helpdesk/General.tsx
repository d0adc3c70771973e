import { useState } from "preact/hooks";
import type { Company } from "../../api/types";
import { ZonePicker } from "../../calendars/ZonePicker";
import { type Key, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Field } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { useDraft } from "../../records/drafts";
import { Conflict, deleteRecord, type RefusedField, refusedField, saveRecord } from "../../records/records";
import { go } from "../../router";
import { merged } from "../../state/edits";
import { drop } from "../../state/responseCache";
import { style } from "../../state/session";
import { NumberField } from "../zones/NumberField";
import type { SectionProps } from "./CompanyPlace";
import { useRecords } from "./records";

const MOST_DAYS = 3650;
const REOPEN_DAYS = 14;

/** Name, time zone, what tickets follow, and whether it can take tickets. */
export function General({ company, mayEdit, onChanged }: SectionProps) {
  const [base, setBase] = useState<Company>(company);
  const draft = useDraft<Company>(`company ${company.id}`, base);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const [deleting, setDeleting] = useState(false);
  const { value } = draft;
  const fixed = busy || !mayEdit;

  const setAttribute = (name: string, given: unknown) => {
    const { [name]: _, ...others } = value.attributes;
    draft.set({ attributes: given === undefined ? others : { ...others, [name]: given } });
  };
  const errorOf = (key: string) => (refused?.key === key ? refused.text : undefined);

  async function save(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setRefused(null);
    try {
      const saved = await saveRecord("/companies", base, value);
      draft.clear();
      setBase(saved);
      toast(t("common.saved"));
      onChanged();
    } catch (problem) {
      if (problem instanceof Conflict) {
        const theirs = problem.theirs as Company;
        draft.set(merged(base, value, theirs));
        setBase(theirs);
        const fields = new Intl.ListFormat(style.value.language).format(problem.fields);
        setRefused({ key: "", text: t("record.conflict", { fields }) });
      } else setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Readiness company={company} />
      <section class="card" aria-labelledby="helpdesk-general">
        <h2 id="helpdesk-general">{t("helpdesk.company")}</h2>
        <form class="record-form" noValidate onSubmit={(event) => void save(event)}>
          <Field
            label={t("helpdesk.companyName")}
            value={value.name}
            maxLength={128}
            disabled={fixed}
            error={errorOf("name")}
            onInput={(event) => draft.set({ name: event.currentTarget.value })}
          />
          <ZonePicker
            value={String(value.attributes.timezone ?? "")}
            noneLabel={t("helpdesk.zoneOfServer")}
            disabled={fixed}
            onChange={(zone) => setAttribute("timezone", zone || undefined)}
          />
          <NumberField
            label={t("helpdesk.reopenDays")}
            value={daysOf(value.attributes.reopenDays)}
            least={0}
            most={MOST_DAYS}
            optional
            placeholder={String(REOPEN_DAYS)}
            disabled={fixed}
            onChange={(days) => setAttribute("reopenDays", days ?? undefined)}
          />
          <NumberField
            label={t("helpdesk.autoCloseDays")}
            value={daysOf(value.attributes.autoCloseDays)}
            least={0}
            most={MOST_DAYS}
            optional
            placeholder={t("helpdesk.never")}
            disabled={fixed}
            onChange={(days) => setAttribute("autoCloseDays", days ?? undefined)}
          />
          {refused && refused.key !== "name" && (
            <p class="refusal" role="alert">
              {refused.key ? `${refused.key}: ${refused.text}` : refused.text}
            </p>
          )}
          {mayEdit && (
            <div class="button-row">
              <button type="submit" class="primary" disabled={busy || !draft.isChanged}>
                {t("common.save")}
              </button>
              <button type="button" class="quiet dangerous" onClick={() => setDeleting(true)}>
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            </div>
          )}
        </form>
      </section>
      {deleting && (
        <Question
          title={t("helpdesk.deleteCompany", { name: company.name })}
          text={t("helpdesk.deleteCompanyText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord("/companies", company.id);
            drop("/ticket");
            toast(t("helpdesk.deleted", { name: company.name }));
            go("/helpdesk", { replace: true });
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

function daysOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

interface Need {
  path: string;
  section: string;
  label: Key;
  /** Whether tickets cannot be taken without it. */
  needed?: boolean;
}

const NEEDS: readonly Need[] = [
  { path: "/ticketstatuses", section: "workflow", label: "helpdesk.workflow", needed: true },
  { path: "/ticketpriorities", section: "priorities", label: "helpdesk.priorities" },
  { path: "/ticketcategories", section: "categories", label: "helpdesk.categories" },
  { path: "/teams", section: "people", label: "helpdesk.teams" },
  { path: "/branches", section: "branches", label: "helpdesk.branches" },
];

/** What is there and what lacks, each a link to where it is set up. */
function Readiness({ company }: { company: Company }) {
  const rules = Array.isArray(company.attributes.ticketRules) ? company.attributes.ticketRules.length : 0;
  return (
    <section class="card" aria-labelledby="helpdesk-ready">
      <h2 id="helpdesk-ready">{t("helpdesk.overview")}</h2>
      <ul class="helpdesk-ready">
        {NEEDS.map((need) => (
          <Counted key={need.path} company={company} need={need} />
        ))}
        <ReadyRow
          to={`/helpdesk/${company.id}/rules`}
          label={t("helpdesk.rules")}
          count={rules}
          lacks={false}
        />
      </ul>
    </section>
  );
}

function Counted({ company, need }: { company: Company; need: Need }) {
  const { value } = useRecords<{ disabled: boolean }>(need.path, company.id);
  const count = value?.filter(({ disabled }) => !disabled).length;
  return (
    <ReadyRow
      to={`/helpdesk/${company.id}/${need.section}`}
      label={t(need.label)}
      count={count}
      lacks={count === 0 && (need.needed ?? false)}
    />
  );
}

interface ReadyRowProps {
  to: string;
  label: string;
  count: number | undefined;
  lacks: boolean;
}

function ReadyRow({ to, label, count, lacks }: ReadyRowProps) {
  return (
    <li>
      <Icon name={lacks ? "warning" : count ? "check" : "minus"} size={16} />
      <Link to={to}>{label}</Link>
      <span>{lacks ? t("helpdesk.lacks") : count}</span>
    </li>
  );
}
