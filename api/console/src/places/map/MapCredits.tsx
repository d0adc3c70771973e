import { t } from "../../i18n/translate";
import type { LayerState } from "../../map/baseLayer";
import type { LayerProblem } from "../../map/layerProblem";

/** The sources that a map names, and why it shows no streets where it should. */
export function MapCredits({ state }: { state: LayerState | null }) {
  if (!state) return null;
  const { credits, isShown, problem } = state;
  return (
    <p class="map-credits">
      <strong role="status">{problem && `${sentenceOf(problem)} `}</strong>
      {credits.map(({ text, href }) => (
        <span key={text}>
          {href ? (
            <a href={href} target="_blank" rel="noreferrer">
              {text}
            </a>
          ) : (
            text
          )}{" "}
        </span>
      ))}
      {!isShown && t("map.credits")}
    </p>
  );
}

function sentenceOf({ kind, host, status }: LayerProblem): string {
  switch (kind) {
    case "late":
      return t("map.late", { host });
    case "offline":
      return t("map.offline");
    case "unreachable":
      return t("map.unreachable", { host });
    case "status":
      return t("map.refused", { host, status });
    case "unreadable":
      return t("map.unreadable", { host });
  }
}
