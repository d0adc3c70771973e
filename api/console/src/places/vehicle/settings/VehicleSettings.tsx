import { useEffect, useState } from "preact/hooks";
import { getVersioned, put } from "../../../api/call";
import type { Device } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Empty } from "../../../parts/Empty";
import { Skeleton } from "../../../parts/Late";
import { Problem, sentenceOf } from "../../../parts/Problem";
import { toast } from "../../../parts/Toast";
import { differing, merged } from "../../../state/edits";
import { applyMessage } from "../../../state/fleet";
import { drop, useLoaded } from "../../../state/responseCache";
import { may } from "../../../state/session";
import { OtherLogins } from "../OtherLogins";
import { VehicleHeader } from "../VehicleHeader";
import { Attributes } from "./Attributes";
import { CameraNames } from "./CameraNames";
import { ChangedMeanwhile } from "./ChangedMeanwhile";
import { Counters } from "./Counters";
import { DeletePositions } from "./DeletePositions";
import { DeleteVehicle } from "./DeleteVehicle";
import { General } from "./General";
import { Picture } from "./Picture";
import { type OtherAttribute, otherAttributes, type Settings, settingsOf, withOthers } from "./values";
import "./settings.css";

/** What is known of a vehicle, to be changed by those who may. */
export default function VehicleSettings({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`settings ${id}`, (signal) => getVersioned<Device>(`/devices/${id}`, signal));
  const name = read.value?.value.name ?? "";
  useEffect(() => {
    document.title = `${t("settings.title", { name })} · Motorpool`;
  }, [name]);
  return (
    <div class="vehicle-place">
      <VehicleHeader id={id} chosen="settings" />
      {!may("editDevices") && <Empty icon="settings" title={t("settings.mayNot")} />}
      {may("editDevices") && read.problem !== null && (
        <Problem problem={read.problem} onRetry={read.reload} />
      )}
      {may("editDevices") && read.problem === null && !read.value && (
        <Skeleton label={t("common.loading")} lines={6} />
      )}
      {may("editDevices") && read.value && <OtherLogins id={id} />}
      {may("editDevices") && read.value && <Form key={id} read={settingsOf(read.value.value)} />}
      {may("editDevices") && read.value && (
        <div class="settings" key={`more ${id}`}>
          <Counters id={id} />
          {may("edit") && <DeletePositions id={id} name={name} />}
        </div>
      )}
    </div>
  );
}

/** Another edit was saved since the settings were read: what it changed. */
interface Conflict {
  theirs: Settings;
  fields: readonly string[];
}

function Form({ read }: { read: Settings }) {
  const [stored, setStored] = useState(read);
  const [edited, setEdited] = useState(read);
  const [others, setOthers] = useState<readonly OtherAttribute[]>(() => otherAttributes(read.attributes));
  /** Fields whose text is no value, by their names. */
  const [wrong, setWrong] = useState<readonly string[]>([]);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  /** Grows when the fields begin anew with other values. */
  const [round, setRound] = useState(0);
  const mine: Settings = { ...edited, attributes: withOthers(edited.attributes, others) };
  const changed = differing(stored, mine).length > 0 || wrong.length > 0;

  function begin(from: Settings, shown: Settings) {
    setStored(from);
    setEdited(shown);
    setOthers(otherAttributes(shown.attributes));
    setWrong([]);
    setRound(round + 1);
  }

  async function save(what: Settings, before: Settings) {
    setBusy(true);
    setSaid("");
    try {
      const now = await getVersioned<Device>(`/devices/${what.id}`);
      const theirs = settingsOf(now.value);
      const fields = differing(before, theirs);
      if (fields.length > 0) return setConflict({ theirs, fields });
      const saved = await put<Device>(`/devices/${what.id}`, what, now.version);
      applyMessage({ devices: [saved] });
      drop("/devices");
      begin(settingsOf(saved), settingsOf(saved));
      toast(t("common.saved"));
    } catch (problem) {
      setSaid(sentenceOf(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      class="settings"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong.length === 0 && changed) void save(mine, stored);
      }}
    >
      <General settings={edited} onChange={(changes) => setEdited({ ...edited, ...changes })} />
      <Picture settings={edited} onChange={(attributes) => setEdited({ ...edited, attributes })} />
      <CameraNames
        key={`cameras ${round}`}
        settings={edited}
        onChange={(attributes) => setEdited({ ...edited, attributes })}
      />
      <Attributes
        key={round}
        attributes={edited.attributes}
        others={others}
        onChange={(attributes) => setEdited({ ...edited, attributes })}
        onOthers={setOthers}
        onWrong={(name, isWrong) =>
          setWrong([...wrong.filter((each) => each !== name), ...(isWrong ? [name] : [])])
        }
      />
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <div class="settings-end">
        <button type="submit" class="primary" disabled={busy || !changed || wrong.length > 0}>
          {t("common.save")}
        </button>
        <DeleteVehicle id={stored.id} name={stored.name} />
      </div>
      {conflict && (
        <ChangedMeanwhile
          fields={conflict.fields}
          onClose={() => setConflict(null)}
          onTheirs={() => {
            setConflict(null);
            begin(conflict.theirs, conflict.theirs);
          }}
          onMine={() => {
            setConflict(null);
            const both = merged(stored, mine, conflict.theirs);
            begin(conflict.theirs, both);
            void save(both, conflict.theirs);
          }}
        />
      )}
    </form>
  );
}
