import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { post } from "../../../api/call";
import type { ComputedAttribute } from "../../../api/types";
import { attributeWords } from "../../../format/attributeWords";
import { t } from "../../../i18n/translate";
import { Field, Select } from "../../../parts/Field";
import { sentenceOf } from "../../../parts/Problem";
import type { Column } from "../../../parts/Table";
import { TextField } from "../../../records/EditFields";
import type { Edit } from "../../../records/RecordDialog";
import { deviceIds, position, positionNow } from "../../../state/fleet";
import { may } from "../../../state/session";
import { VehiclePicker } from "../../fleet/VehiclePicker";
import { RecordTable, useAll } from "./RecordTable";

/** How long after the last key an expression is tried. */
const TRY_MS = 300;
const TYPES = ["Number", "String", "Boolean"] as const;
/** Fields of positions that expressions know beside the attributes. */
const FIELDS = ["valid", "latitude", "longitude", "altitude", "speed", "course", "accuracy"] as const;

/** Computed attributes have no attributes of their own; forms of records know them. */
type Computed = ComputedAttribute & { attributes: { [name: string]: unknown } };

const BLANK: Computed = {
  id: 0,
  description: null,
  attribute: "",
  expression: "",
  type: "Number",
  priority: 0,
  attributes: {},
};

/** Attributes that are computed for each position, tried on the latest position of a vehicle while they are written. */
export default function ComputedAttributes() {
  const found = useAll<ComputedAttribute>("/attributes/computed");
  const records = useMemo(
    () => ({ ...found, value: found.value?.map((each): Computed => ({ ...each, attributes: {} })) }),
    [found.value, found.problem],
  );
  const columns = useMemo(
    (): readonly Column<Computed>[] => [
      { key: "attribute", label: t("vehicles.attribute"), width: 10, value: ({ attribute }) => attribute },
      { key: "description", label: t("vehicles.description"), width: 12, value: (each) => each.description },
      { key: "type", label: t("vehicles.type"), width: 6, value: ({ type }) => type },
      {
        key: "expression",
        label: t("vehicles.expression"),
        width: 18,
        value: ({ expression }) => expression,
        cell: ({ expression }) => <code title={expression}>{expression}</code>,
      },
      {
        key: "priority",
        label: t("vehicles.priority"),
        width: 5,
        numeric: true,
        value: (each) => each.priority,
      },
    ],
    [],
  );
  return (
    <RecordTable<Computed>
      to="/admin/attributes"
      path="/attributes/computed"
      icon="measure"
      mayEdit={may("administer")}
      records={records}
      columns={columns}
      sort={{ key: "attribute", descending: false }}
      nameOf={({ attribute }) => attribute}
      newLabel={t("vehicles.newAttribute")}
      empty={{ title: t("vehicles.noAttributes"), text: t("vehicles.noAttributesText") }}
      deleteText={t("vehicles.deleteAttributeText")}
      blank={BLANK}
      linkKey="attributeId"
      wide
      fields={(edit) => <Editor edit={edit} />}
    />
  );
}

function Editor({ edit }: { edit: Edit<Computed> }) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [chosen, setDevice] = useState<number | null>(null);
  // At first one that has a position; the fleet may be on its way still.
  const deviceId = chosen ?? deviceIds.value.find((each) => positionNow(each)) ?? deviceIds.value[0] ?? null;
  const { attribute, expression, type, priority } = edit.value;
  const refusal = edit.errorOf("expression");

  function insert(name: string) {
    const { selectionStart = 0, selectionEnd = 0 } = area.current ?? {};
    edit.set({ expression: expression.slice(0, selectionStart) + name + expression.slice(selectionEnd) });
    area.current?.focus();
  }

  return (
    <div class="vehicles-editor">
      <div class="vehicles-editor-form">
        <Field
          label={t("vehicles.attribute")}
          hint={t("vehicles.attributeHint")}
          value={attribute}
          maxLength={128}
          autofocus
          disabled={edit.disabled}
          error={edit.errorOf("attribute")}
          onInput={(event) => edit.set({ attribute: event.currentTarget.value })}
        />
        <TextField edit={edit} field="description" label={t("vehicles.description")} />
        <div class="form-grid">
          <Select
            label={t("vehicles.type")}
            value={TYPES.find((each) => each.toLowerCase() === type.toLowerCase()) ?? type}
            choices={TYPES.map((each) => ({ value: each, label: t(`vehicles.type.${each}`) }))}
            error={edit.errorOf("type")}
            disabled={edit.disabled}
            onChange={(next) => edit.set({ type: next })}
          />
          <Field
            label={t("vehicles.priority")}
            hint={t("vehicles.priorityHint")}
            type="number"
            step="1"
            value={String(priority)}
            disabled={edit.disabled}
            error={edit.errorOf("priority")}
            onInput={(event) => edit.set({ priority: Math.trunc(Number(event.currentTarget.value)) })}
          />
        </div>
        <div class="field">
          <label for={id}>{t("vehicles.expression")}</label>
          <textarea
            ref={area}
            id={id}
            class="vehicles-code"
            rows={5}
            maxLength={4000}
            spellcheck={false}
            value={expression}
            disabled={edit.disabled}
            aria-invalid={refusal ? true : undefined}
            aria-describedby={`${id}-trial`}
            onInput={(event) => edit.set({ expression: event.currentTarget.value })}
          />
          {refusal && (
            <p class="field-error" role="alert">
              {refusal}
            </p>
          )}
        </div>
        <div id={`${id}-trial`} aria-live="polite">
          {deviceId !== null && expression.trim() !== "" && (
            <Trial deviceId={deviceId} expression={expression} type={type} />
          )}
        </div>
      </div>
      <div class="vehicles-editor-values">
        <VehiclePicker label={t("vehicles.triedOn")} value={deviceId} onChange={setDevice} />
        {deviceId !== null && <Values deviceId={deviceId} onInsert={insert} />}
      </div>
    </div>
  );
}

/** What the expression says of the latest position of a vehicle. */
function Trial({ deviceId, expression, type }: { deviceId: number; expression: string; type: string }) {
  const [result, setResult] = useState<{ text: string; isBad: boolean } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const body = { attribute: "trial", expression, type };
      post<unknown>("/attributes/computed/test", body, { deviceId }, abort.signal).then(
        (value) =>
          setResult({
            text: value === undefined ? t("vehicles.noValue") : `${String(value)} (${typeof value})`,
            isBad: false,
          }),
        (problem: unknown) => {
          if (!abort.signal.aborted)
            setResult({ text: sentenceOf(problem).replace(/^expression: /i, ""), isBad: true });
        },
      );
    }, TRY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [deviceId, expression, type]);
  if (!result) return null;
  const at = result.isBad ? Number(/at character (\d+)/.exec(result.text)?.[1] ?? 0) : 0;
  return (
    <div class={`vehicles-trial ${result.isBad ? "bad" : ""}`}>
      <p>
        <strong>{t(result.isBad ? "vehicles.trialError" : "vehicles.trialResult")}</strong> {result.text}
      </p>
      {at > 0 && <pre aria-hidden="true">{pointer(expression, at)}</pre>}
    </div>
  );
}

/** The line of an expression with a mark below a character, counted from 1. */
function pointer(expression: string, at: number): string {
  const before = expression.slice(0, at - 1);
  const start = before.lastIndexOf("\n") + 1;
  const line = expression.slice(start).split("\n")[0] ?? "";
  return `${line}\n${" ".repeat(at - 1 - start)}^`;
}

/** The variables of an expression with their values; one that is pressed is written into it. */
function Values({ deviceId, onInsert }: { deviceId: number; onInsert: (name: string) => void }) {
  const at = position(deviceId).value;
  if (!at) return <p class="field-hint">{t("vehicles.noPosition")}</p>;
  const names = Object.keys(at.attributes).sort();
  const rows = [
    ...FIELDS.map((name) => [name, at[name]] as const),
    ...names.map((name) => [name, at.attributes[name]] as const),
  ];
  const words = attributeWords();
  return (
    <ul class="vehicles-values" aria-label={t("vehicles.variables")}>
      {rows.map(([name, value]) => (
        <li key={name}>
          <button type="button" title={words?.attributeName(name) ?? name} onClick={() => onInsert(name)}>
            <code>{name}</code>
            <span>{typeof value === "object" ? JSON.stringify(value) : String(value)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
