import { useId, useState } from "preact/hooks";
import { put } from "../../../api/call";
import { distanceIn } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { Field } from "../../../parts/Field";
import { sentenceOf } from "../../../parts/Problem";
import { toast } from "../../../parts/Toast";
import { position } from "../../../state/fleet";
import { style } from "../../../state/session";

const HOUR_MS = 3_600_000;

/** What the server has counted of a vehicle, from which it goes on; nothing before its first position. */
export function Counters({ id }: { id: number }) {
  const heading = useId();
  const [edited, setEdited] = useState<{ distance?: string; hours?: string }>({});
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const latest = position(id).value;
  if (!latest) return null;
  const metres = 1 / distanceIn(1, style.value);
  const known = (name: string, unit: number) => {
    const value = latest.attributes[name];
    return typeof value === "number" ? String(Math.round((value / unit) * 10) / 10) : "";
  };
  const amount = (text: string | undefined, unit: number) =>
    text === undefined || text.trim() === "" ? undefined : Number(text) * unit;
  const changes = {
    totalDistance: amount(edited.distance, metres),
    hours: amount(edited.hours, HOUR_MS),
  };
  const values = Object.values(changes).filter((each) => each !== undefined);
  const isGood = values.length > 0 && values.every((each) => each >= 0);

  async function save() {
    setBusy(true);
    setSaid("");
    try {
      await put(`/devices/${id}/accumulators`, changes);
      setEdited({});
      toast(t("common.saved"));
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
  }
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>{t("settings.counters")}</h2>
      <p class="card-text">{t("settings.countersText")}</p>
      <div class="form-grid">
        <Field
          label={t("settings.totalDistance", { unit: style.value.distanceUnit })}
          type="number"
          min="0"
          step="any"
          value={edited.distance ?? known("totalDistance", metres)}
          disabled={busy}
          onInput={(event) => setEdited({ ...edited, distance: event.currentTarget.value })}
        />
        <Field
          label={t("settings.engineHours")}
          type="number"
          min="0"
          step="any"
          value={edited.hours ?? known("hours", HOUR_MS)}
          disabled={busy}
          onInput={(event) => setEdited({ ...edited, hours: event.currentTarget.value })}
        />
      </div>
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <div class="button-row">
        <button type="button" disabled={busy || !isGood} onClick={() => void save()}>
          {t("settings.setCounters")}
        </button>
      </div>
    </section>
  );
}
