import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import type { ShapeKind } from "../../map/area";
import { halfWidthOf } from "../../map/zoneShapes";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { may } from "../../state/session";
import { Conflicting } from "./Conflicting";
import type { Editing } from "./editing";
import { useInside } from "./inside";
import { deleteZone } from "./requests";
import { ShapeFields } from "./ShapeFields";
import { useSave } from "./useSave";
import { ZoneLinks } from "./ZoneLinks";
import { ZoneNotices } from "./ZoneNotices";
import { ZoneRules } from "./ZoneRules";

interface ZonePanelProps {
  editing: Editing;
  /** Whether the map gives the shape handles. */
  reshapable: boolean;
  /** The reader wants to enter the values of a shape of this kind. */
  onNumbers: (kind: ShapeKind) => void;
  onClose: () => void;
  /** After it was saved or deleted: the id that it has now, or null. */
  onDone: (id: number | null) => void;
}

const HINTS = {
  circle: "zone.drawCircle",
  polygon: "zone.drawPolygon",
  corridor: "zone.drawCorridor",
} as const;

/** Everything of one zone on one page: shape, rules, whom it is for, and who is notified. */
export function ZonePanel({ editing, reshapable, onNumbers, onClose, onDone }: ZonePanelProps) {
  const { busy, said, conflict, setConflict, save } = useSave(editing, onDone);
  const [deleting, setDeleting] = useState(false);
  const record = editing.record.value;
  const { record: stored } = editing.stored.value;
  const drawing = editing.drawing.value;
  const shape = editing.shape.value;
  const inside = useInside(shape, halfWidthOf(record));
  const fixed = busy || !may("edit");
  const form = useRef<HTMLFormElement>(null);
  // What was drawn is named next.
  useEffect(() => {
    if (!drawing && !stored && shape) form.current?.querySelector("input")?.focus();
  }, [drawing === null]);
  useKeys("zone", {
    back: () => {
      if (drawing) editing.drawing.value = null;
      else onClose();
    },
  });
  return (
    <aside class="zone-panel" aria-label={t("zone.panel")}>
      <header>
        <h1>{stored?.name ?? t("zone.new")}</h1>
        <button
          type="button"
          class="icon-button"
          aria-label={t("zone.close")}
          title={t("zone.close")}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label={t("zone.name")}
          value={record.name}
          disabled={fixed}
          maxLength={128}
          autofocus={stored === null}
          onInput={(event) => editing.set({ name: event.currentTarget.value })}
        />
        <section aria-label={t("zone.shape")} class="zone-part">
          <ShapeState editing={editing} reshapable={reshapable} fixed={fixed} onNumbers={onNumbers} />
          <ShapeFields editing={editing} disabled={fixed} />
          {inside !== null && (
            <p class="zone-inside" role="status">
              <Icon name="car" size={16} />
              {t("zone.inside", { count: inside })}
            </p>
          )}
        </section>
        <Part title={t("zone.links")}>
          <ZoneLinks editing={editing} disabled={fixed} />
        </Part>
        <Part title={t("zone.notify")}>
          <ZoneNotices editing={editing} disabled={fixed} />
        </Part>
        <Part title={t("zone.appearance")}>
          <ZoneRules editing={editing} disabled={fixed} />
        </Part>
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
        {may("edit") && (
          <footer>
            <button type="submit" class="primary" disabled={busy || !editing.isChanged.value}>
              {t("common.save")}
            </button>
            {stored && (
              <button type="button" class="quiet dangerous" disabled={busy} onClick={() => setDeleting(true)}>
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            )}
          </footer>
        )}
      </form>
      {conflict && (
        <Conflicting
          conflict={conflict}
          editing={editing}
          onClose={() => setConflict(null)}
          onSave={() => void save()}
        />
      )}
      {deleting && stored && (
        <Deleting
          editing={editing}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast(t("zone.deleted"));
            onDone(null);
          }}
        />
      )}
    </aside>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="zone-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface ShapeStateProps {
  editing: Editing;
  reshapable: boolean;
  fixed: boolean;
  onNumbers: (kind: ShapeKind) => void;
}

/** What is drawn, how to draw it, and what the map cannot change. */
function ShapeState({ editing, reshapable, fixed, onNumbers }: ShapeStateProps) {
  const drawing = editing.drawing.value;
  const shape = editing.shape.value;
  const unreadable = shape === null && editing.record.value.area !== "";
  const toggle = (kind: ShapeKind) => {
    editing.drawing.value = drawing === kind ? null : kind;
  };
  return (
    <>
      {!fixed && (
        <fieldset class="chips">
          <legend>{t(shape || unreadable ? "zone.drawAgain" : "zone.shape")}</legend>
          {(["circle", "polygon", "corridor"] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              class="chip"
              aria-pressed={drawing === kind}
              onClick={() => toggle(kind)}
            >
              <Icon name={kind} size={16} />
              {t(`zone.${kind}`)}
            </button>
          ))}
        </fieldset>
      )}
      {drawing && (
        <div class="zone-hint">
          <p role="status">{t(HINTS[drawing])}</p>
          <button type="button" class="link" onClick={() => onNumbers(drawing)}>
            {t("zone.enterNumbers")}
          </button>
        </div>
      )}
      {unreadable && <p class="zone-hint">{t("zone.kept")}</p>}
      {shape && !drawing && !reshapable && !fixed && <p class="zone-hint">{t("zone.holes")}</p>}
    </>
  );
}

function Deleting({
  editing,
  onClose,
  onDone,
}: {
  editing: Editing;
  onClose: () => void;
  onDone: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const { record } = editing.stored.value;
  const run = () => {
    setBusy(true);
    deleteZone(editing.stored.peek())
      .then(onDone)
      .catch((problem: unknown) => toast(sentenceOf(problem), "bad"))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog
      title={t("zone.deleteTitle", { name: record?.name ?? "" })}
      onClose={onClose}
      actions={
        <>
          <button type="button" autofocus onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="button" class="dangerous" disabled={busy} onClick={run}>
            {t("common.delete")}
          </button>
        </>
      }
    >
      <p>{t("zone.deleteText")}</p>
    </Dialog>
  );
}
