/** Stills of a camera: saved as a file, and offered for a ticket. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { post } from "../api/call";
import type { Still } from "../api/types";
import { pictureName } from "../format/fileNames";
import { dateTime } from "../format/times";
import { t } from "../i18n/translate";
import { copyPicture, mayCopyPictures } from "../parts/copy";
import { toast } from "../parts/Toast";
import { style } from "../state/session";
import { ChooseTicket } from "../tickets/AttachTicket";
import type { Evidence } from "../tickets/evidence";
import { readCompanies } from "../tickets/useCompanies";
import { cameraName, cameraNumber } from "./cameraNames";
import { type Frame, frameOf, saveAs } from "./stillImage";

interface Of {
  deviceId: number;
  vehicle: string;
  camera: number;
  /** When the picture was made, in milliseconds since 1970. */
  at: number;
}

/** What takes a still of a video, and the dialog in which a ticket is chosen for it. */
export function useStill(): [
  take: (video: HTMLVideoElement | null, of: Of) => Promise<void>,
  dialog: ComponentChildren,
] {
  const [kept, setKept] = useState<(Of & { frame: Frame }) | null>(null);
  async function take(video: HTMLVideoElement | null, of: Of): Promise<void> {
    const frame = video && (await frameOf(video));
    if (!frame) return toast(t("live.noStill"), "bad");
    saveAs(
      frame.png,
      pictureName(of.vehicle, of.camera, cameraName(of.deviceId, of.camera), of.at, style.value.zone, "png"),
    );
    // Who sees no tickets has the file.
    const companies = await readCompanies().catch(() => []);
    const attach = { label: t("ticket.attach"), run: () => setKept({ ...of, frame }) };
    toast(
      t("live.stillSaved"),
      "good",
      ...(mayCopyPictures() ? [{ label: t("common.copy"), run: () => copyPicture(frame.png) }] : []),
      ...(companies.length > 0 ? [attach] : []),
    );
  }
  const dialog = kept && (
    <ChooseTicket deviceId={kept.deviceId} evidence={() => uploaded(kept)} onClose={() => setKept(null)} />
  );
  return [take, dialog];
}

async function uploaded({ deviceId, camera, at, frame }: Of & { frame: Frame }): Promise<Evidence> {
  const jpeg = await frame.jpeg();
  if (!jpeg) throw new Error(t("live.stillTooLarge"));
  const { fileName } = await post<Still>(`/devices/${deviceId}/stills`, jpeg, {
    channel: camera,
    time: new Date(at).toISOString(),
  });
  const text = t("live.stillOf", { camera: cameraNumber(deviceId, camera), time: dateTime(at, style.value) });
  return { files: [{ deviceId, fileName }], text };
}
