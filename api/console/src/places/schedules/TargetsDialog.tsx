import { useState } from "preact/hooks";
import { post, remove } from "../../api/call";
import type { Group, ScheduledCommand } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { ManyPicker } from "../../records/ManyPicker";
import { vehicleChoices } from "../../state/vehicleChoices";
import { vehiclesOf } from "./records";

/** Links that one request adds or removes at most (docs/permissions.md#links). */
const MOST_LINKS = 1000;

interface TargetsDialogProps {
  schedule: ScheduledCommand;
  groups: readonly Group[];
  onClose: () => void;
  onSaved: () => void;
}

/** Which vehicles a schedule is for: by themselves, and by groups with all that is below them. */
export function TargetsDialog({ schedule, groups, onClose, onSaved }: TargetsDialogProps) {
  const [devices, setDevices] = useState<readonly number[]>(schedule.deviceIds);
  const [chosen, setChosen] = useState<readonly number[]>(schedule.groupIds);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  async function save() {
    setBusy(true);
    try {
      await saveLinks("deviceId", schedule.deviceIds, devices, schedule.id);
      await saveLinks("groupId", schedule.groupIds, chosen, schedule.id);
      toast(t("common.saved"));
      onSaved();
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
  }
  const count = vehiclesOf(devices, chosen, groups).length;
  return (
    <Dialog
      title={t("schedule.targets")}
      wide
      onClose={onClose}
      actions={
        <button type="button" class="primary" disabled={busy} onClick={() => void save()}>
          {t("common.save")}
        </button>
      }
    >
      <ManyPicker
        label={t("schedule.groups")}
        items={groups.map(({ id, name }) => ({ id, name }))}
        values={chosen}
        none={t("common.none")}
        disabled={busy}
        onChange={setChosen}
      />
      <ManyPicker
        label={t("schedule.singleVehicles")}
        items={vehicleChoices(devices)}
        values={devices}
        none={t("common.none")}
        disabled={busy}
        onChange={setDevices}
      />
      <p role="status">{t("schedule.vehicles", { count })}</p>
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </Dialog>
  );
}

async function saveLinks(
  key: "deviceId" | "groupId",
  before: readonly number[],
  after: readonly number[],
  scheduledCommandId: number,
): Promise<void> {
  const linksOf = (ids: readonly number[]) => ids.map((id) => ({ [key]: id, scheduledCommandId }));
  for (const part of parts(linksOf(after.filter((id) => !before.includes(id)))))
    await post("/permissions/bulk", part);
  for (const part of parts(linksOf(before.filter((id) => !after.includes(id)))))
    await remove("/permissions/bulk", part);
}

function parts<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / MOST_LINKS) }, (_, index) =>
    items.slice(index * MOST_LINKS, (index + 1) * MOST_LINKS),
  );
}
