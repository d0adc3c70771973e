import { useEffect, useId, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { Shape } from "../../map/area";
import { halfWidthOf } from "../../map/zoneShapes";
import type { Editing } from "./editing";
import { NumberField } from "./NumberField";
import { pointsOf, type Read, readPoints } from "./points";

/** Meters; half of the earth's circumference. */
const MOST_RADIUS = 20_000_000;
const MOST_WIDTH = 100_000;

/** The exact values of a shape. */
export function ShapeFields({ editing, disabled }: { editing: Editing; disabled: boolean }) {
  const shape = editing.shape.value;
  if (!shape) return null;
  if (shape.kind === "circle") return <CircleFields shape={shape} editing={editing} disabled={disabled} />;
  return (
    <>
      {shape.kind === "corridor" && (
        <NumberField
          label={t("zone.halfWidth")}
          value={halfWidthOf(editing.record.value)}
          least={0}
          most={MOST_WIDTH}
          onChange={(value) => editing.setAttribute("polylineDistance", value)}
          disabled={disabled}
        />
      )}
      <Points shape={shape} editing={editing} disabled={disabled} />
    </>
  );
}

interface CircleFieldsProps {
  shape: Shape & { kind: "circle" };
  editing: Editing;
  disabled: boolean;
}

function CircleFields({ shape, editing, disabled }: CircleFieldsProps) {
  const [latitude, longitude] = shape.center;
  return (
    <div class="zone-numbers">
      <NumberField
        label={t("zone.latitude")}
        value={latitude}
        least={-90}
        most={90}
        onChange={(value) => editing.setShape({ ...shape, center: [value ?? 0, longitude] })}
        disabled={disabled}
      />
      <NumberField
        label={t("zone.longitude")}
        value={longitude}
        least={-360}
        most={360}
        onChange={(value) => editing.setShape({ ...shape, center: [latitude, value ?? 0] })}
        disabled={disabled}
      />
      <NumberField
        label={t("zone.radius")}
        value={shape.radius}
        least={1}
        most={MOST_RADIUS}
        onChange={(value) => editing.setShape({ ...shape, radius: value ?? 1 })}
        disabled={disabled}
      />
    </div>
  );
}

interface PointsProps {
  shape: Exclude<Shape, { kind: "circle" }>;
  editing: Editing;
  disabled: boolean;
}

/** A text of points; what is typed stays as it is, as long as it means the shape. */
function Points({ shape, editing, disabled }: PointsProps) {
  const id = useId();
  const [text, setText] = useState(() => pointsOf(shape));
  const read = readPoints(text, shape.kind);
  const { area } = editing.record.value;
  useEffect(() => {
    if (!("shape" in read) || pointsOf(read.shape) !== pointsOf(shape)) setText(pointsOf(shape));
  }, [area]);
  return (
    <div class="field">
      <label for={id}>{t("zone.points")}</label>
      <textarea
        id={id}
        rows={5}
        spellcheck={false}
        value={text}
        disabled={disabled}
        aria-describedby={`${id}-hint`}
        aria-invalid={"error" in read}
        onInput={(event) => {
          setText(event.currentTarget.value);
          const typed = readPoints(event.currentTarget.value, shape.kind);
          if ("shape" in typed) editing.setShape(typed.shape);
        }}
      />
      <Wrong of={read} />
      <p class="field-hint" id={`${id}-hint`}>
        {t(shape.kind === "polygon" ? "zone.pointsHint" : "zone.lineHint")}
      </p>
    </div>
  );
}

function Wrong({ of }: { of: Read }) {
  return "error" in of ? (
    <p class="field-error" role="alert">
      {t(of.error, of.values)}
    </p>
  ) : null;
}
