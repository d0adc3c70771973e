import { useState } from "preact/hooks";
import { number } from "../../format/units";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device } from "../../state/fleet";
import { may, style } from "../../state/session";
import { cameraNumber } from "../cameraNames";
import { clockOf, moveClock, STEP_MS } from "./clock";

interface ClockProps {
  deviceId: number;
  camera: number;
}

/** Moves the clock of a camera that is off against GPS, for those who may change the vehicle. */
export function CameraClock({ deviceId, camera }: ClockProps) {
  const [busy, setBusy] = useState(false);
  if (!may("editDevices")) return null;
  const clock = clockOf(device(deviceId).value, camera);
  const named = { camera: cameraNumber(deviceId, camera) };
  async function move(by: number): Promise<void> {
    setBusy(true);
    try {
      await moveClock(deviceId, camera, by);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }
  const button = (by: number, sign: string, label: string) => (
    <button type="button" class="quiet" disabled={busy} onClick={() => void move(by)}>
      <span aria-hidden="true">{sign}</span>
      <span class="hidden">{label}</span>
    </button>
  );
  return (
    <fieldset class="film-clock" title={t("film.clockText")}>
      <legend class="hidden">{t("film.clock", named)}</legend>
      {button(-STEP_MS, "−½ s", t("film.clockBack", named))}
      <output>
        {clock === 0
          ? t("film.clockRight")
          : `${clock > 0 ? "+" : ""}${number(clock / 1000, 1, style.value)} s`}
      </output>
      {button(STEP_MS, "+½ s", t("film.clockOn", named))}
    </fieldset>
  );
}
