import type { ComponentChildren } from "preact";
import type { BaseMap, View } from "../../map/baseMap";
import { server, session } from "../../state/session";
import { preferredView } from "../fleet/view";
import { MapFrame } from "./MapFrame";
import { useMap } from "./useMap";

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

/** A map of a place: base map, zoom and credits. The library is loaded when the map is first shown. */
export function MapStage({ title, view, onOpen, printable = false, buttons, children }: MapStageProps) {
  const stage = useMap<BaseMap>(async (container, given) => {
    const { openBaseMap } = await import("../../map/baseMap");
    const shown = view ?? preferredView(session.peek(), server.peek());
    return openBaseMap(container, { ...given, view: shown, title, printable });
  }, onOpen);
  return (
    <MapFrame stage={stage} buttons={buttons}>
      {children}
    </MapFrame>
  );
}
