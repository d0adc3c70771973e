import { useState } from "preact/hooks";
import { remove } from "../../../api/call";
import type { Device, Group } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { Icon } from "../../../parts/Icon";
import { Picker } from "../../../parts/Picker";
import { sentenceOf } from "../../../parts/Problem";
import { ARCHIVED } from "../../../state/fleet";
import { changeSeveral } from "./csv";
import { useOf } from "./deviceTable";
import { EditSeveral } from "./EditSeveral";
import { type Failure, Results } from "./Results";

/** Deletions under way at once. */
const AT_ONCE = 4;

interface SelectedBarProps {
  /** Rows of the table. */
  count: number;
  devices: readonly Device[];
  groups: readonly Group[];
  attributes: readonly string[];
  mayEdit: boolean;
  onMove: (groupId: number) => void;
  onChanged: () => void;
  onClear: () => void;
}

/** What can be done with the vehicles that are selected. */
export function SelectedBar(props: SelectedBarProps) {
  const { devices, groups, onChanged } = props;
  const [open, setOpen] = useState<"edit" | "move" | "archive" | "delete" | null>(null);
  if (devices.length === 0)
    return (
      <p class="vehicles-count" role="status">
        {t("vehicles.count", { count: props.count })}
      </p>
    );
  const isArchived = devices.every((each) => useOf(each, 0) === "archived");
  const close = () => setOpen(null);
  return (
    <div class="vehicles-selected" role="toolbar" aria-label={t("vehicles.selectedActs")}>
      <strong role="status">{t("vehicles.selected", { count: devices.length })}</strong>
      <button type="button" onClick={() => setOpen("edit")}>
        <Icon name="edit" size={16} />
        {t("vehicles.edit")}
      </button>
      <button type="button" onClick={() => setOpen("move")}>
        <Icon name="next" size={16} />
        {t("vehicles.move")}
      </button>
      <button type="button" onClick={() => setOpen("archive")}>
        <Icon name={isArchived ? "reload" : "archive"} size={16} />
        {t(isArchived ? "vehicles.restore" : "vehicles.archive")}
      </button>
      <button type="button" class="dangerous" onClick={() => setOpen("delete")}>
        <Icon name="trash" size={16} />
        {t("common.delete")}
      </button>
      <button type="button" class="quiet" onClick={props.onClear}>
        {t("common.clear")}
      </button>
      {open === "edit" && (
        <EditSeveral
          devices={devices}
          groups={groups}
          attributes={props.attributes}
          onDone={onChanged}
          onClose={close}
        />
      )}
      {open === "move" && (
        <Dialog title={t("vehicles.moveTitle", { count: devices.length })} onClose={close}>
          <Picker
            label={t("vehicle.group")}
            items={groups.map(({ id, name }) => ({ id, name }))}
            value={null}
            noneLabel={t("vehicles.noGroup")}
            onChange={(id) => {
              close();
              props.onMove(id === null ? 0 : Number(id));
            }}
          />
        </Dialog>
      )}
      {open === "archive" && (
        <Several
          title={t(isArchived ? "vehicles.restoreTitle" : "vehicles.archiveTitle", { count: devices.length })}
          text={t(isArchived ? "vehicles.restoreText" : "vehicles.archiveText")}
          act={t(isArchived ? "vehicles.restore" : "vehicles.archive")}
          run={(onDone) => archive(devices, !isArchived, onDone)}
          onDone={onChanged}
          onClose={close}
        />
      )}
      {open === "delete" && (
        <Several
          title={t("vehicles.deleteTitle", { count: devices.length })}
          text={t("vehicles.deleteText")}
          act={t("common.delete")}
          run={(onDone) => deleteAll(devices, onDone)}
          onDone={onChanged}
          onClose={close}
        />
      )}
    </div>
  );
}

interface SeveralProps {
  title: string;
  text: string;
  act: string;
  run: (onDone: (count: number) => void) => Promise<readonly Failure[]>;
  onDone: () => void;
  onClose: () => void;
}

/** Asks, does it, and says what failed. */
function Several({ title, text, act, run, onDone, onClose }: SeveralProps) {
  const [done, setDone] = useState<number | null>(null);
  const [failures, setFailures] = useState<readonly Failure[] | null>(null);
  const [said, setSaid] = useState("");
  const start = async () => {
    setDone(0);
    setSaid("");
    try {
      const found = await run(setDone);
      if (found.length > 0) setFailures(found);
      else close();
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setDone(null);
  };
  const close = () => {
    onDone();
    onClose();
  };
  const isBusy = done !== null;
  return (
    <Dialog
      title={title}
      {...(!isBusy && { onClose: failures ? close : onClose })}
      actions={
        failures ? (
          <button type="button" class="primary" autofocus onClick={close}>
            {t("common.close")}
          </button>
        ) : (
          <>
            <button type="button" autofocus disabled={isBusy} onClick={onClose}>
              {t("common.cancel")}
            </button>
            <button type="button" class="dangerous" disabled={isBusy} onClick={() => void start()}>
              {act}
            </button>
          </>
        )
      }
    >
      {failures ? <Results failures={failures} /> : <p>{text}</p>}
      {isBusy && <p role="status">{t("vehicles.progress", { count: done })}</p>}
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </Dialog>
  );
}

/** An archived vehicle may not report; one that is restored may. */
async function archive(devices: readonly Device[], isArchived: boolean, onDone: (count: number) => void) {
  const changes = new Map([
    ["disabled", String(isArchived)],
    [`attributes.${ARCHIVED}`, isArchived ? "true" : ""],
  ]);
  const result = await changeSeveral(devices, changes, onDone);
  return result.rows
    .filter(({ faults }) => faults.length > 0)
    .map((row) => ({ name: row.name, text: row.faults.map(({ text }) => text).join("; ") }));
}

async function deleteAll(devices: readonly Device[], onDone: (count: number) => void) {
  const waiting = [...devices];
  const failures: Failure[] = [];
  let count = 0;
  const work = async () => {
    for (let device = waiting.shift(); device; device = waiting.shift()) {
      try {
        await remove(`/devices/${device.id}`);
      } catch (problem) {
        failures.push({ name: device.name, text: sentenceOf(problem) });
      }
      count += 1;
      onDone(count);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}
