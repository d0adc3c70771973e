import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { LayersButton, LayersMenu } from "./LayersButton";
import { MapButton } from "./MapButton";
import { MapCredits } from "./MapCredits";
import type { Stage } from "./useMap";
import "./stage.css";

interface MapFrameProps {
  stage: Stage;
  /** Further buttons, above those that zoom. */
  buttons?: ComponentChildren;
  /** What lies over the map. */
  children?: ComponentChildren;
}

/** A map with its buttons and credits, or why there is none. */
export function MapFrame({ stage, buttons, children }: MapFrameProps) {
  const { element, map, layers, shown, failure } = stage;
  const [layersAt, setLayersAt] = useState<{ x: number; y: number } | null>(null);
  return (
    <div class="map-stage">
      <div ref={element} class="map-canvas" />
      {failure && <Empty icon="map" title={t("map.unavailable")} text={t(failure)} />}
      {map && (
        <>
          <div class="map-buttons">
            {layers.length > 0 && <LayersButton isOpen={layersAt !== null} onOpen={setLayersAt} />}
            {buttons}
            <div class="button-pair">
              <MapButton icon="plus" label={t("map.zoomIn")} act={() => map.zoomBy(1)} />
              <MapButton icon="minus" label={t("map.zoomOut")} act={() => map.zoomBy(-1)} />
            </div>
          </div>
          <MapCredits state={shown} />
          {layersAt && <LayersMenu layers={layers} at={layersAt} onClose={() => setLayersAt(null)} />}
        </>
      )}
      {children}
    </div>
  );
}
