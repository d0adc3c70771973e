import { useEffect, useId, useState } from "preact/hooks";
import { address } from "../../../api/call";
import type { ImportedRow, ImportResult } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { Check } from "../../../parts/Field";
import { sentenceOf } from "../../../parts/Problem";
import { type Column, Table } from "../../../parts/Table";
import { toast } from "../../../parts/Toast";
import { csvOf, importFile, tryFile } from "./csv";

const OUTCOMES = ["faulty", "created", "updated", "unchanged"] as const;

/** A file of vehicles: what it would change is shown with each row's faults before anything is stored. */
export function ImportDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const id = useId();
  const [file, setFile] = useState<File | null>(null);
  const [trial, setTrial] = useState<ImportResult | null>(null);
  const [skipFaulty, setSkip] = useState(false);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const [only, setOnly] = useState<ImportedRow["outcome"] | null>(null);

  useEffect(() => {
    if (!file) return;
    const abort = new AbortController();
    setTrial(null);
    setSaid("");
    setOnly(null);
    setSkip(false);
    setBusy(true);
    tryFile(file, abort.signal)
      .then(setTrial, (problem: unknown) => {
        if (!abort.signal.aborted) setSaid(sentenceOf(problem));
      })
      .finally(() => setBusy(false));
    return () => abort.abort();
  }, [file]);

  async function store() {
    if (!file) return;
    setBusy(true);
    setSaid("");
    try {
      const done = await importFile(file, skipFaulty);
      if (done.stored || done.faulty === 0) {
        toast(t("vehicles.imported", { created: done.created, updated: done.updated }));
        onDone();
        onClose();
      } else setTrial(done);
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
  }

  const many = trial ? trial.created + trial.updated : 0;
  const mayStore = many > 0 && (trial?.faulty === 0 || skipFaulty);
  return (
    <Dialog
      title={t("vehicles.importTitle")}
      wide
      onClose={onClose}
      actions={
        <button type="button" class="primary" disabled={busy || !mayStore} onClick={() => void store()}>
          {trial ? t("vehicles.importRows", { count: many }) : t("vehicles.import")}
        </button>
      }
    >
      <p>{t("vehicles.importText")}</p>
      <p class="button-row">
        <a
          class="button quiet"
          download="vehicles.csv"
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(TEMPLATE)}`}
        >
          {t("vehicles.template")}
        </a>
        <a class="button quiet" href={address("/devices/csv")} download>
          {t("vehicles.exportAll")}
        </a>
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the field in it takes files by keys */}
      <div
        class="field vehicles-drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          const dropped = event.dataTransfer?.files[0];
          if (dropped) setFile(dropped);
        }}
      >
        <label for={id}>{t("vehicles.file")}</label>
        <input
          id={id}
          type="file"
          accept=".csv,text/csv,text/plain"
          disabled={busy}
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0];
            if (chosen) setFile(chosen);
          }}
        />
      </div>
      {busy && <p role="status">{t("vehicles.checking")}</p>}
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      {trial && (
        <>
          <fieldset class="chips" aria-label={t("vehicles.outcome")}>
            {OUTCOMES.filter((each) => trial[each] > 0).map((each) => (
              <button
                key={each}
                type="button"
                class="chip"
                aria-pressed={only === each}
                onClick={() => setOnly(only === each ? null : each)}
              >
                {t(`vehicles.outcome.${each}`)} <span class="chip-count">{trial[each]}</span>
              </button>
            ))}
          </fieldset>
          <div class="vehicles-results">
            <Table
              label={t("vehicles.rows")}
              columns={columns()}
              rows={only ? trial.rows.filter(({ outcome }) => outcome === only) : sortedByFault(trial.rows)}
              keyOf={({ row }) => row}
              classOf={({ outcome }) => (outcome === "faulty" ? "vehicles-faulty" : "")}
            />
          </div>
          {trial.faulty > 0 && many > 0 && (
            <Check
              label={t("vehicles.skipFaulty", { count: trial.faulty })}
              checked={skipFaulty}
              onChange={setSkip}
            />
          )}
        </>
      )}
    </Dialog>
  );
}

/** What an empty file has. */
const TEMPLATE = csvOf([
  ["name", "uniqueId", "group", "phone", "model", "contact", "category", "disabled", "expirationTime"],
]);

/** What is to be mended stands first. */
function sortedByFault(rows: readonly ImportedRow[]): readonly ImportedRow[] {
  const faulty = rows.filter(({ outcome }) => outcome === "faulty");
  return faulty.length === 0 ? rows : [...faulty, ...rows.filter(({ outcome }) => outcome !== "faulty")];
}

function columns(): readonly Column<ImportedRow>[] {
  return [
    {
      key: "name",
      label: t("settings.name"),
      width: 9,
      value: ({ name, uniqueId }) => name || uniqueId,
    },
    { key: "row", label: t("vehicles.row"), width: 4, numeric: true, value: ({ row }) => row },
    { key: "uniqueId", label: t("settings.uniqueId"), width: 9, value: ({ uniqueId }) => uniqueId },
    {
      key: "outcome",
      label: t("vehicles.outcome"),
      width: 7,
      value: ({ outcome }) => t(`vehicles.outcome.${outcome}`),
    },
    {
      key: "faults",
      label: t("vehicles.faults"),
      width: 18,
      value: ({ faults }) => faultText(faults),
      cell: ({ faults }) => <span title={faultText(faults)}>{faultText(faults)}</span>,
    },
  ];
}

function faultText(faults: ImportedRow["faults"]): string {
  return (faults ?? []).map(({ column, text }) => (column ? `${column}: ${text}` : text)).join("; ");
}
