import { useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { downloadName } from "./downloadName";
import { useLiveCapture } from "./liveCapture";
import { ownCaptures } from "./recorded/captures";
import type { TileId } from "./tiles";

/** Keeps a minute of a camera that this browser cannot play, as a file for another player. */
export function KeepLive({ deviceId, camera }: TileId) {
  const [id, setId] = useState("");
  const { running, busy, begin } = useLiveCapture({ deviceId, camera });
  const capture = ownCaptures.value.find((each) => each.capture.id === id)?.capture;
  if (capture?.status === "COMPLETE" && capture.url) {
    return (
      <a class="button" href={capture.url} download={downloadName(capture, Date.parse(capture.startedAt))}>
        {t("capture.download")}
      </a>
    );
  }
  const keeping = busy || running !== undefined;
  return (
    <button
      type="button"
      disabled={keeping}
      onClick={() => void begin(1).then((begun) => begun && setId(begun))}
    >
      {t(keeping ? "live.keeping" : "live.keep")}
    </button>
  );
}
