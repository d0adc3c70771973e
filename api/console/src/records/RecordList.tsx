import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get, type Query } from "../api/call";
import { t } from "../i18n/translate";
import { Empty } from "../parts/Empty";
import { Check } from "../parts/Field";
import { Icon, type IconName } from "../parts/Icon";
import { Skeleton } from "../parts/Late";
import { Problem, sentenceOf } from "../parts/Problem";
import { Question } from "../parts/Question";
import { SearchField } from "../parts/SearchField";
import { toast } from "../parts/Toast";
import { useLoaded } from "../state/responseCache";
import { EditButtons } from "./EditButtons";
import { type Edit, RecordDialog } from "./RecordDialog";
import { changeRecord, deleteRecord } from "./records";
import "./records.css";

/** Rows that are read at once. */
const PAGE = 100;

/** What all records of such lists have; those with `disabled` can be archived. */
interface Listed {
  id: number;
  name: string;
  disabled?: boolean;
  attributes: { [name: string]: unknown };
}

interface RecordListProps<T extends Listed> {
  path: string;
  /** Which of the records, as parameters of the request. */
  of: Query;
  mayEdit: boolean;
  icon: IconName;
  title: string;
  /** What the thing is for, where there is none yet. */
  empty: { title: string; text: string };
  newLabel: string;
  searchLabel: string;
  deleteText: string;
  blank: T;
  /** What a row says beside the name. */
  note: (record: T) => ComponentChildren;
  fields: (edit: Edit<T>, isNew: boolean) => ComponentChildren;
}

/** Records that may be many: searched by the server, added, edited, archived and deleted. */
export function RecordList<T extends Listed>(props: RecordListProps<T>) {
  const { path, of, mayEdit, title, empty, newLabel, blank } = props;
  const [keyword, setKeyword] = useState("");
  const [limit, setLimit] = useState(PAGE);
  const [edited, setEdited] = useState<T | "new" | null>(null);
  const [deleting, setDeleting] = useState<T | null>(null);
  const query = { ...of, keyword, limit: limit + 1 };
  const { value, problem, reload } = useLoaded(`${path} ${JSON.stringify(query)}`, (signal) =>
    get<readonly T[]>(path, query, signal),
  );
  const rows = (value ?? []).slice(0, limit);
  const archive = async (record: T, disabled: boolean) => {
    try {
      await changeRecord<T>(path, record.id, (now) => ({ ...now, disabled }));
      reload();
      toast(t(disabled ? "record.wasArchived" : "record.wasRestored", { name: record.name }), "good", {
        label: t("common.undo"),
        run: () => void archive(record, !disabled),
      });
    } catch (reason) {
      toast(sentenceOf(reason), "bad");
    }
  };
  const add = mayEdit && (
    <button type="button" class={rows.length > 0 ? "" : "primary"} onClick={() => setEdited("new")}>
      <Icon name="plus" size={16} />
      {newLabel}
    </button>
  );
  const isEmpty = value?.length === 0 && keyword === "";
  return (
    <section class="card" aria-label={title}>
      <header class="page-head">
        <h2>{title}</h2>
        {!isEmpty && add}
      </header>
      {!isEmpty && (
        <SearchField
          class="record-search"
          label={props.searchLabel}
          value={keyword}
          onText={(text) => {
            setKeyword(text);
            setLimit(PAGE);
          }}
        />
      )}
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={4} />}
      {isEmpty && (
        <Empty icon={props.icon} title={empty.title} text={empty.text}>
          {add}
        </Empty>
      )}
      {value?.length === 0 && keyword !== "" && <Empty icon="search" title={t("common.noMatch")} />}
      <ul class="record-rows">
        {rows.map((record) => (
          <li key={record.id} class={record.disabled ? "archived" : ""}>
            <div>
              <strong>{record.name}</strong>
              {record.disabled && <small>{t("record.archived")}</small>}
              <p>{props.note(record)}</p>
            </div>
            {mayEdit && (
              <div class="button-row">
                {record.disabled !== undefined && (
                  <ArchiveButton
                    name={record.name}
                    isArchived={record.disabled}
                    onChange={(disabled) => void archive(record, disabled)}
                  />
                )}
                <EditButtons
                  name={record.name}
                  onEdit={() => setEdited(record)}
                  onDelete={() => setDeleting(record)}
                />
              </div>
            )}
          </li>
        ))}
      </ul>
      {(value?.length ?? 0) > limit && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + PAGE)}>
          {t("record.showMore")}
        </button>
      )}
      {edited && (
        <RecordDialog<T>
          title={edited === "new" ? newLabel : edited.name}
          path={path}
          stored={edited === "new" ? null : edited}
          blank={blank}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            reload();
          }}
        >
          {(edit) => props.fields(edit, edited === "new")}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: deleting.name })}
          text={props.deleteText}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(path, deleting.id);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </section>
  );
}

interface ArchiveButtonProps {
  name: string;
  isArchived: boolean;
  onChange: (isArchived: boolean) => void;
}

/** Takes something out of use, or back into it. */
export function ArchiveButton({ name, isArchived, onChange }: ArchiveButtonProps) {
  const label = t(isArchived ? "record.restore" : "record.archive", { name });
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => onChange(!isArchived)}
    >
      <Icon name={isArchived ? "reload" : "archive"} size={16} />
    </button>
  );
}

interface ArchivedCheckProps {
  edit: Edit<{ disabled: boolean } & { id: number; attributes: { [name: string]: unknown } }>;
  hint: string;
}

/** The same in a form. */
export function ArchivedCheck({ edit, hint }: ArchivedCheckProps) {
  return (
    <Check
      label={t("record.archivedLabel")}
      hint={hint}
      checked={edit.value.disabled}
      disabled={edit.disabled}
      onChange={(disabled) => edit.set({ disabled })}
    />
  );
}
