import { useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { downloadName } from "./downloadName";
import { ownCaptures } from "./recorded/captures";
import { keepLive } from "./recorded/fetch";
import type { TileId } from "./tiles";

/** Keeps a minute of a camera that this browser cannot play, as a file for another player. */
export function KeepLive({ deviceId, camera }: TileId) {
  const [id, setId] = useState("");
  const [busy, setBusy] = useState(false);
  const capture = ownCaptures.value.find((each) => each.capture.id === id)?.capture;
  async function keep(): Promise<void> {
    setBusy(true);
    try {
      setId((await keepLive(deviceId, camera)).id);
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    } finally {
      setBusy(false);
    }
  }
  if (capture?.status === "COMPLETE" && capture.url) {
    return (
      <a class="button" href={capture.url} download={downloadName(capture, Date.parse(capture.startedAt))}>
        {t("capture.download")}
      </a>
    );
  }
  const keeping = busy || capture?.status === "RECORDING";
  return (
    <button type="button" disabled={keeping} onClick={() => void keep()}>
      {t(keeping ? "live.keeping" : "live.keep")}
    </button>
  );
}
