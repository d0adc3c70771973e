import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { BaseMapOptions } from "../../map/baseMap";
import { mapPreferencesOf } from "../../map/mapPreferences";
import { MapUnavailable } from "../../map/unavailable";
import { server, session, style } from "../../state/session";
import { creditsOf } from "./credits";

/** What the buttons of every map act on. */
interface Zoomable {
  zoomBy: (steps: number) => void;
  close: () => void;
}

/** A map that is loaded when it is first shown. */
export interface Stage<M extends Zoomable = Zoomable> {
  element: RefObject<HTMLDivElement | null>;
  /** Null until it is there. */
  map: M | null;
  credits: string;
  failure: "map.needsWebgl" | "map.notLoaded" | null;
}

/**
 * Load the base map and make a map with `make`. `onOpen` is called once, when the map is there; what it returns is
 * called before the map closes.
 */
export function useMap<M extends Zoomable>(
  make: (container: HTMLElement, given: Pick<BaseMapOptions, "base" | "language">) => Promise<M>,
  onOpen: (map: M) => () => void = () => () => {},
): Stage<M> {
  const element = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<{ map: M; credits: string } | null>(null);
  const [failure, setFailure] = useState<Stage["failure"]>(null);
  useEffect(() => {
    const container = element.current;
    if (!container) return undefined;
    let close = () => {};
    let gone = false;
    open(container)
      .then(({ map, credits }) => {
        if (gone) return map.close();
        const leave = onOpen(map);
        close = () => {
          leave();
          map.close();
        };
        return setOpened({ map, credits });
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
    const language = style.peek().language;
    const { loadBase } = await import("../../map/base");
    const base = await loadBase(language, mapPreferencesOf(session.peek(), server.peek()));
    return { map: await make(container, { base, language }), credits: creditsOf(base) };
  }
  return { element, map: opened?.map ?? null, credits: opened?.credits ?? "", failure };
}
