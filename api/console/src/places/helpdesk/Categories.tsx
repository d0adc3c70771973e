import { useState } from "preact/hooks";
import type { Team, TicketCategory, TicketPriority } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Picker } from "../../parts/Picker";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { Tree } from "../../parts/Tree";
import { possibleParents, type TreeRow, treeRows } from "../../parts/treeRows";
import { EditButtons } from "../../records/EditButtons";
import { NameField } from "../../records/EditFields";
import { RecordDialog } from "../../records/RecordDialog";
import { ArchiveButton, ArchivedCheck } from "../../records/RecordList";
import { changeRecord, deleteRecord } from "../../records/records";
import type { SectionProps } from "./CompanyPlace";
import { useRecords } from "./records";
import { StandardSetup } from "./StandardSetup";

const PATH = "/ticketcategories";

/** What tickets are about, as a tree that is moved by mouse and keys. */
export function Categories({ company, mayEdit }: SectionProps) {
  const { value, problem, reload } = useRecords<TicketCategory>(PATH, company.id);
  const teams = useRecords<Team>("/teams", company.id).value ?? [];
  const priorities = useRecords<TicketPriority>("/ticketpriorities", company.id).value ?? [];
  const [edited, setEdited] = useState<TicketCategory | null>(null);
  const [deleting, setDeleting] = useState<TicketCategory | null>(null);
  const [moving, setMoving] = useState<TicketCategory | null>(null);
  const rows = treeRows(value ?? []);
  const nameOf = (id: number) => rows.find(({ node }) => node.id === id)?.node.name ?? "";

  const change = async (category: TicketCategory, part: Partial<TicketCategory>, said: string) => {
    try {
      await changeRecord<TicketCategory>(PATH, category.id, (now) => ({ ...now, ...part }));
      reload();
      const before = Object.fromEntries(
        Object.keys(part).map((key) => [key, category[key as keyof TicketCategory]]),
      );
      toast(said, "good", {
        label: t("common.undo"),
        run: () => void changeRecord(PATH, category.id, (now) => ({ ...now, ...before })).then(reload),
      });
    } catch (reason) {
      toast(sentenceOf(reason), "bad");
    }
  };
  const move = (category: TicketCategory, parentId: number) => {
    const where = parentId ? nameOf(parentId) : t("helpdesk.topLevel");
    void change(category, { parentId }, t("helpdesk.wasMoved", { name: category.name, where }));
  };
  const blank: TicketCategory = {
    id: 0,
    companyId: company.id,
    parentId: 0,
    name: "",
    teamId: 0,
    priorityId: 0,
    disabled: false,
    attributes: {},
  };
  const startsWith = (category: TicketCategory) =>
    [
      teams.find(({ id }) => id === category.teamId)?.name,
      priorities.find(({ id }) => id === category.priorityId)?.name,
    ]
      .filter(Boolean)
      .join(" · ");
  return (
    <section class="card" aria-label={t("helpdesk.categories")}>
      <header class="page-head">
        <h2>{t("helpdesk.categories")}</h2>
        {mayEdit && rows.length > 0 && (
          <button type="button" onClick={() => setEdited(blank)}>
            <Icon name="plus" size={16} />
            {t("helpdesk.newCategory")}
          </button>
        )}
      </header>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {value?.length === 0 && (
        <StandardSetup
          companyId={company.id}
          mayEdit={mayEdit}
          title={t("helpdesk.noCategories")}
          text={t("helpdesk.noCategoriesText")}
          onDone={reload}
        />
      )}
      {rows.length > 0 && mayEdit && <p class="card-text">{t("helpdesk.treeHint")}</p>}
      <Tree
        rows={rows}
        label={t("helpdesk.categories")}
        topLevel={t("helpdesk.topLevel")}
        mayMove={mayEdit}
        onMove={move}
        isArchived={({ disabled }) => disabled}
      >
        {({ node: category, depth }, onKeyDown) => (
          <>
            <button
              type="button"
              class="tree-node helpdesk-node"
              disabled={!mayEdit}
              onClick={() => setEdited(category)}
              onKeyDown={onKeyDown}
            >
              <strong>{category.name}</strong>
              <span class="hidden">{t("helpdesk.nodeLevel", { level: depth + 1 })}</span>
              {category.disabled && <small>{t("record.archived")}</small>}
              <small>{startsWith(category)}</small>
            </button>
            {mayEdit && (
              <div class="button-row">
                <button
                  type="button"
                  class="icon-button"
                  aria-label={t("helpdesk.move", { name: category.name })}
                  title={t("helpdesk.move", { name: category.name })}
                  onClick={() => setMoving(category)}
                >
                  <Icon name="next" size={16} />
                </button>
                <ArchiveButton
                  name={category.name}
                  isArchived={category.disabled}
                  onChange={(disabled) =>
                    void change(
                      category,
                      { disabled },
                      t(disabled ? "record.wasArchived" : "record.wasRestored", { name: category.name }),
                    )
                  }
                />
                <EditButtons name={category.name} onDelete={() => setDeleting(category)} />
              </div>
            )}
          </>
        )}
      </Tree>
      {moving && (
        <MoveDialog
          category={moving}
          rows={rows}
          onMove={(parentId) => {
            setMoving(null);
            if (parentId !== moving.parentId) move(moving, parentId);
          }}
          onClose={() => setMoving(null)}
        />
      )}
      {edited && (
        <RecordDialog
          title={edited.id ? edited.name : t("helpdesk.newCategory")}
          path={PATH}
          stored={edited.id ? edited : null}
          blank={blank}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            reload();
          }}
        >
          {(edit) => (
            <>
              <NameField edit={edit} />
              <ParentPicker
                rows={rows}
                id={edit.value.id}
                value={edit.value.parentId}
                disabled={edit.disabled}
                onChange={(parentId) => edit.set({ parentId })}
              />
              <Picker
                label={t("helpdesk.startsWithTeam")}
                items={teams.filter(({ disabled }) => !disabled).map(({ id, name }) => ({ id, name }))}
                value={edit.value.teamId || null}
                noneLabel={t("common.none")}
                disabled={edit.disabled}
                onChange={(id) => edit.set({ teamId: Number(id ?? 0) })}
              />
              <Picker
                label={t("helpdesk.startsWithPriority")}
                items={priorities.filter(({ disabled }) => !disabled).map(({ id, name }) => ({ id, name }))}
                value={edit.value.priorityId || null}
                noneLabel={t("common.none")}
                disabled={edit.disabled}
                onChange={(id) => edit.set({ priorityId: Number(id ?? 0) })}
              />
              {edit.value.id > 0 && <ArchivedCheck edit={edit} hint={t("record.archivedHint")} />}
            </>
          )}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: deleting.name })}
          text={t("helpdesk.deleteCategoryText")}
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

interface ParentPickerProps {
  rows: readonly TreeRow<TicketCategory>[];
  /** 0 for a new one. */
  id: number;
  value: number;
  disabled?: boolean;
  onChange: (parentId: number) => void;
}

function ParentPicker({ rows, id, value, disabled = false, onChange }: ParentPickerProps) {
  const possible = possibleParents(rows, id);
  return (
    <Picker
      label={t("helpdesk.below")}
      items={rows
        .filter(({ node }) => possible.has(node.id))
        .map(({ node, depth }) => ({ id: node.id, name: `${"— ".repeat(depth)}${node.name}` }))}
      value={value || null}
      noneLabel={t("helpdesk.topLevel")}
      disabled={disabled}
      onChange={(chosen) => onChange(Number(chosen ?? 0))}
    />
  );
}

interface MoveDialogProps {
  category: TicketCategory;
  rows: readonly TreeRow<TicketCategory>[];
  onMove: (parentId: number) => void;
  onClose: () => void;
}

/** The way without dragging, also for fingers. */
function MoveDialog({ category, rows, onMove, onClose }: MoveDialogProps) {
  return (
    <Dialog title={t("helpdesk.move", { name: category.name })} onClose={onClose}>
      <ParentPicker rows={rows} id={category.id} value={category.parentId} onChange={onMove} />
    </Dialog>
  );
}
