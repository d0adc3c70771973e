import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { Empty } from "../../../parts/Empty";
import { Icon, type IconName } from "../../../parts/Icon";
import { Skeleton } from "../../../parts/Late";
import { Problem } from "../../../parts/Problem";
import { Question } from "../../../parts/Question";
import { type Column, type Sort, Table } from "../../../parts/Table";
import { type Edit, RecordDialog } from "../../../records/RecordDialog";
import { deleteRecord } from "../../../records/records";
import { drop, type Loaded, useLoaded } from "../../../state/responseCache";
import { session } from "../../../state/session";
import { AdminPlace } from "../AdminPlace";
import { AppliesTo, type PropertyKey } from "./AppliesTo";
import "./vehicles.css";

interface Recorded {
  id: number;
  attributes: { [name: string]: unknown };
}

interface RecordTableProps<T extends Recorded> {
  /** The address of the section. */
  to: string;
  path: string;
  icon: IconName;
  mayEdit: boolean;
  records: Loaded<readonly T[]>;
  columns: readonly Column<T>[];
  sort: Sort;
  /** What a record is called. */
  nameOf: (record: T) => string;
  newLabel: string;
  /** What the thing is for, where there is none yet. */
  empty: { title: string; text: string };
  deleteText: string;
  blank: T;
  /** The key of links to it; with it the form says which vehicles and groups it is for. */
  linkKey: PropertyKey;
  fields: (edit: Edit<T>) => ComponentChildren;
  isInvalid?: (record: T) => boolean;
  /** What stands below the table. */
  children?: ComponentChildren;
  wide?: boolean;
}

/** Whether the reader sees records of others too: administrators and managers do. */
export function seesAll(): boolean {
  return session.value?.administrator === true || session.value?.userLimit !== 0;
}

/** All records of a path that the reader may see. */
export function useAll<T>(path: string): Loaded<readonly T[]> {
  const all = seesAll();
  return useLoaded<readonly T[]>(`${path} ${all}`, (signal) => get<T[]>(path, { all }, signal));
}

/** A section of the administration that lists records in a table; each is edited in a dialog. */
export function RecordTable<T extends Recorded>(props: RecordTableProps<T>) {
  const { to, path, mayEdit, records, columns, nameOf, newLabel, blank } = props;
  const { value, problem, reload } = records;
  const [keyword, setKeyword] = useState("");
  const [edited, setEdited] = useState<T | "new" | null>(null);
  const [deleting, setDeleting] = useState<T | null>(null);
  const rows = useMemo(() => {
    const words = keyword.toLowerCase().split(/\s+/).filter(Boolean);
    return (value ?? []).filter((record) => {
      const text = columns.map((column) => column.value(record) ?? "").join("\n");
      return words.every((word) => text.toLowerCase().includes(word));
    });
  }, [value, columns, keyword]);
  const add = mayEdit && (
    <button type="button" class="primary" onClick={() => setEdited("new")}>
      <Icon name="plus" size={16} />
      {newLabel}
    </button>
  );
  return (
    <AdminPlace to={to} acts={value && value.length > 0 ? add : null}>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {value?.length === 0 && (
        <Empty icon={props.icon} title={props.empty.title} text={props.empty.text}>
          {add}
        </Empty>
      )}
      {value && value.length > 0 && (
        <div class="vehicles-main">
          <SearchField label={t("common.search")} value={keyword} onText={setKeyword} />
          {rows.length === 0 ? (
            <Empty icon="search" title={t("common.noMatch")} />
          ) : (
            <div class="vehicles-records">
              <Table
                label={props.empty.title && t("vehicles.records")}
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                sort={props.sort}
                {...(mayEdit && { onOpen: setEdited })}
              />
            </div>
          )}
        </div>
      )}
      {props.children}
      {edited && (
        <RecordDialog<T>
          key={edited === "new" ? 0 : edited.id}
          title={edited === "new" ? newLabel : nameOf(edited)}
          path={path}
          stored={edited === "new" ? null : edited}
          blank={blank}
          {...(props.wide && { wide: true })}
          {...(props.isInvalid && { isInvalid: props.isInvalid })}
          acts={
            edited !== "new" && (
              <button type="button" class="dangerous" onClick={() => setDeleting(edited)}>
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            )
          }
          onClose={() => {
            setEdited(null);
            // Which vehicles it is for was saved at once.
            if (edited !== "new") reload();
          }}
          onSaved={(saved) => {
            // What is new is for nobody yet: the form goes on with which vehicles it is for.
            setEdited(edited === "new" ? saved : null);
            reload();
          }}
        >
          {(edit) => (
            <>
              {props.fields(edit)}
              {edited === "new" ? (
                <p class="field-hint">{t("vehicles.appliesLater")}</p>
              ) : (
                <AppliesTo property={props.linkKey} id={edited.id} />
              )}
            </>
          )}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("vehicles.deleteRecord", { name: nameOf(deleting) })}
          text={props.deleteText}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(path, deleting.id);
            drop(path);
            setEdited(null);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </AdminPlace>
  );
}

import { SearchField } from "../../../parts/SearchField";
