import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { BaseMap, View } from "../../map/baseMap";
import { MapUnavailable } from "../../map/unavailable";
import { wishesOf } from "../../map/wishes";
import { Empty } from "../../parts/Empty";
import { server, session, style } from "../../state/session";
import { preferredView } from "../fleet/view";
import { creditsOf } from "./credits";
import { MapButton } from "./MapButton";
import "./stage.css";

interface MapStageProps {
  /** Name of the map for screen readers. */
  title: string;
  /** Where the map begins; null for what user or server prefer. */
  view: View | null;
  /** Called once, when the map is there; what it returns is called before the map closes. */
  onOpen: (map: BaseMap) => () => void;
  /** Whether the place is printed. */
  printable?: boolean;
  /** Further buttons, above those that zoom. */
  buttons?: ComponentChildren;
  /** What lies over the map. */
  children?: ComponentChildren;
}

type Failure = "map.needsWebgl" | "map.notLoaded";

interface Opened {
  map: BaseMap;
  credits: string;
}

/** A map of a place: base map, zoom and credits. The library is loaded when the map is first shown. */
export function MapStage({ title, view, onOpen, printable = false, buttons, children }: MapStageProps) {
  const element = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    const container = element.current;
    if (!container) return undefined;
    let close = () => {};
    let gone = false;
    openedIn(container, title, view, printable)
      .then((made) => {
        if (gone) return made.map.close();
        const leave = onOpen(made.map);
        close = () => {
          leave();
          made.map.close();
        };
        return setOpened(made);
      })
      .catch((problem: unknown) => {
        // Nothing else throws once all is loaded.
        setFailure(problem instanceof MapUnavailable ? "map.needsWebgl" : "map.notLoaded");
      });
    return () => {
      gone = true;
      close();
    };
  }, []);
  return (
    <div class="map-stage">
      <div ref={element} class="map-canvas" />
      {failure && <Empty icon="map" title={t("map.unavailable")} text={t(failure)} />}
      {opened && (
        <>
          <div class="map-buttons">
            {buttons}
            <div class="button-pair">
              <MapButton icon="plus" label={t("map.zoomIn")} act={() => opened.map.zoomBy(1)} />
              <MapButton icon="minus" label={t("map.zoomOut")} act={() => opened.map.zoomBy(-1)} />
            </div>
          </div>
          {opened.credits && <p class="map-credits">{opened.credits}</p>}
        </>
      )}
      {children}
    </div>
  );
}

async function openedIn(
  container: HTMLElement,
  title: string,
  view: View | null,
  printable: boolean,
): Promise<Opened> {
  const language = style.peek().language;
  const wishes = wishesOf(session.peek(), server.peek());
  const [{ openBaseMap }, base] = await Promise.all([
    import("../../map/baseMap"),
    import("../../map/base").then(({ loadBase }) => loadBase(language, wishes)),
  ]);
  const shown = view ?? preferredView(session.peek(), server.peek());
  const map = await openBaseMap(container, { base, language, view: shown, title, printable });
  return { map, credits: creditsOf(base) };
}
