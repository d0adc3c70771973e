import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { coordinates } from "../../format/coordinates";
import type { Layer } from "../../map/base";
import type { LayerState } from "../../map/baseLayer";
import type { BaseMapOptions } from "../../map/baseMap";
import { mapPreferencesOf } from "../../map/mapPreferences";
import { MapUnavailable } from "../../map/unavailable";
import { server, session, style } from "../../state/session";
import { chosenLayer } from "./layerChoice";

const UNITS = { km: "metric", mi: "imperial", nmi: "nautical" } as const;

/** What of a map is the same for all places. */
type Given = Omit<BaseMapOptions, "view" | "title" | "printable">;

/** What the buttons of every map act on. */
interface Zoomable {
  zoomBy: (steps: number) => void;
  setLayer: (layer: Layer | null) => void;
  close: () => void;
}

/** A map that is loaded when it is first shown. */
export interface Stage<M extends Zoomable = Zoomable> {
  element: RefObject<HTMLDivElement | null>;
  /** Null until it is there. */
  map: M | null;
  /** What may be shown over the outlines. */
  layers: readonly Layer[];
  /** What is shown over them; null until the map is there. */
  shown: LayerState | null;
  failure: "map.needsWebgl" | "map.notLoaded" | null;
}

/**
 * Load the base map and make a map with `make`. `onOpen` is called once, when the map is there; what it returns is
 * called before the map closes.
 */
export function useMap<M extends Zoomable>(
  make: (container: HTMLElement, given: Given) => Promise<M>,
  onOpen: (map: M) => () => void = () => () => {},
): Stage<M> {
  const element = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<{ map: M; layers: readonly Layer[] } | null>(null);
  const [shown, setShown] = useState<LayerState | null>(null);
  const [failure, setFailure] = useState<Stage["failure"]>(null);
  useEffect(() => {
    const container = element.current;
    if (!container) return undefined;
    let close = () => {};
    let gone = false;
    open(container)
      .then(({ map, layers }) => {
        if (gone) return map.close();
        const leave = onOpen(map);
        const endChoice = effect(() => map.setLayer(chosenLayer(layers)));
        close = () => {
          endChoice();
          leave();
          map.close();
        };
        return setOpened({ map, layers });
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

  async function open(container: HTMLElement) {
    const { language, distanceUnit } = style.peek();
    const { loadBase } = await import("../../map/base");
    const isGuest = Boolean(session.peek()?.temporary);
    const base = await loadBase(language, mapPreferencesOf(session.peek(), server.peek()), isGuest);
    const map = await make(container, {
      base,
      layer: chosenLayer(base.layers),
      onLayer: setShown,
      language,
      units: UNITS[distanceUnit],
      placeText: (latitude, longitude) => coordinates(latitude, longitude, style.peek()),
    });
    return { map, layers: base.layers };
  }
  return { element, map: opened?.map ?? null, layers: opened?.layers ?? [], shown, failure };
}
