import { useState } from "preact/hooks";
import type { TicketStatus } from "../../api/types";
import { t } from "../../i18n/translate";
import { Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { NameField } from "../../records/EditFields";
import { RecordDialog } from "../../records/RecordDialog";
import { ArchivedCheck } from "../../records/RecordList";
import { changeRecord, deleteRecord } from "../../records/records";
import { NumberField } from "../zones/NumberField";
import type { SectionProps } from "./CompanyPlace";
import { useRecords } from "./records";
import { StandardSetup } from "./StandardSetup";
import { mayFollow, nextOf, withNext } from "./workflow";

const PATH = "/ticketstatuses";
const KINDS = ["new", "open", "pending", "resolved", "closed", "cancelled"] as const;
const STEP = 10;
const MOST_ORDER = 1_000_000;

/** The statuses of a company, and which may follow which, as a matrix. */
export function Workflow({ company, mayEdit }: SectionProps) {
  const { value, problem, reload } = useRecords<TicketStatus>(PATH, company.id);
  const [edited, setEdited] = useState<TicketStatus | null>(null);
  const [deleting, setDeleting] = useState<TicketStatus | null>(null);
  /** What was chosen and is not stored yet. */
  const [sent, setSent] = useState<ReadonlyMap<string, boolean>>(new Map());
  const statuses = [...(value ?? [])].sort(
    (one, other) => one.sortOrder - other.sortOrder || one.id - other.id,
  );
  const blank: TicketStatus = {
    id: 0,
    companyId: company.id,
    name: "",
    kind: "open",
    sortOrder: (statuses.at(-1)?.sortOrder ?? 0) + STEP,
    disabled: false,
    attributes: {},
  };
  const allow = async (from: TicketStatus, to: TicketStatus, isAllowed: boolean) => {
    const key = `${from.id} ${to.id}`;
    setSent((before) => new Map(before).set(key, isAllowed));
    try {
      await changeRecord<TicketStatus>(PATH, from.id, (now) => ({
        ...now,
        attributes: { ...now.attributes, next: withNext(now, to.id, isAllowed, statuses) },
      }));
      reload();
    } catch (reason) {
      toast(sentenceOf(reason), "bad");
      setSent((before) => new Map([...before].filter(([each]) => each !== key)));
    }
  };
  return (
    <section class="card" aria-label={t("helpdesk.workflow")}>
      <header class="page-head">
        <h2>{t("helpdesk.workflow")}</h2>
        {mayEdit && statuses.length > 0 && (
          <button type="button" onClick={() => setEdited(blank)}>
            <Icon name="plus" size={16} />
            {t("helpdesk.newStatus")}
          </button>
        )}
      </header>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {value?.length === 0 && (
        <StandardSetup
          companyId={company.id}
          mayEdit={mayEdit}
          title={t("helpdesk.noStatuses")}
          text={t("helpdesk.noStatusesText")}
          onDone={reload}
        />
      )}
      {statuses.length > 0 && (
        <>
          <p class="card-text">{t("helpdesk.matrixText")}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
          <section class="helpdesk-matrix" tabIndex={0} aria-label={t("helpdesk.matrix")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("helpdesk.fromStatus")}</th>
                  {statuses.map((to) => (
                    <th key={to.id} scope="col" class={to.disabled ? "archived" : ""}>
                      <span>{to.name}</span>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {statuses.map((from) => (
                  <tr key={from.id} class={from.disabled ? "archived" : ""}>
                    <th scope="row">
                      {mayEdit ? (
                        <button
                          type="button"
                          class="link"
                          aria-label={t("record.edit", { name: from.name })}
                          onClick={() => setEdited(from)}
                        >
                          {from.name}
                        </button>
                      ) : (
                        from.name
                      )}
                      <small>
                        {t(`helpdesk.kind.${from.kind as (typeof KINDS)[number]}`)}
                        {from.disabled && ` · ${t("record.archived")}`}
                        {nextOf(from) === null && ` · ${t("helpdesk.anyNext")}`}
                      </small>
                    </th>
                    {statuses.map((to) => (
                      <td key={to.id}>
                        {from.id === to.id ? (
                          <span class="hidden">{t("common.none")}</span>
                        ) : (
                          <label class="field">
                            <input
                              type="checkbox"
                              aria-label={t("helpdesk.follows", { from: from.name, to: to.name })}
                              checked={sent.get(`${from.id} ${to.id}`) ?? mayFollow(from, to.id)}
                              disabled={!mayEdit}
                              onChange={(event) => void allow(from, to, event.currentTarget.checked)}
                            />
                            <span class="helpdesk-to">{to.name}</span>
                          </label>
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <dl class="helpdesk-kinds">
            {KINDS.map((kind) => (
              <div key={kind}>
                <dt>{t(`helpdesk.kind.${kind}`)}</dt>
                <dd>{t(`helpdesk.about.${kind}`)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {edited && (
        <RecordDialog
          title={edited.id ? edited.name : t("helpdesk.newStatus")}
          path={PATH}
          stored={edited.id ? edited : null}
          blank={blank}
          acts={
            edited.id > 0 && (
              <button
                type="button"
                class="quiet dangerous"
                onClick={() => {
                  setEdited(null);
                  setDeleting(edited);
                }}
              >
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            )
          }
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            setSent(new Map());
            reload();
          }}
        >
          {(edit) => (
            <>
              <NameField edit={edit} />
              <Select
                label={t("helpdesk.kindLabel")}
                hint={t(`helpdesk.about.${edit.value.kind as (typeof KINDS)[number]}`)}
                error={edit.errorOf("kind")}
                value={edit.value.kind}
                choices={KINDS.map((kind) => ({ value: kind, label: t(`helpdesk.kind.${kind}`) }))}
                disabled={edit.disabled}
                onChange={(kind) => edit.set({ kind })}
              />
              <NumberField
                label={t("helpdesk.sortOrder")}
                value={edit.value.sortOrder}
                least={0}
                most={MOST_ORDER}
                disabled={edit.disabled}
                onChange={(order) => edit.set({ sortOrder: Math.round(order ?? 0) })}
              />
              {edit.value.id > 0 && <ArchivedCheck edit={edit} hint={t("helpdesk.archivedStatus")} />}
            </>
          )}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: deleting.name })}
          text={t("helpdesk.deleteStatusText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(PATH, deleting.id);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </section>
  );
}
