import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { toast } from "../../parts/Toast";
import { go, location } from "../../router";
import { chooseVehicle, chosenElsewhere } from "../../state/linkedWindows";
import { fullScreen, Tile } from "../../video/Tile";
import { speakByKey } from "../../video/talk/talk";
import {
  columnsOf,
  type Layout,
  MOST_TILES,
  moved,
  readLayout,
  readTiles,
  STILLS_FROM,
  type TileId,
  wallAddress,
  writeTile,
} from "../../video/tiles";
import { CameraChooser } from "./CameraChooser";
import { wallMap } from "./mapShown";
import { VehicleMapAside } from "./VehicleMapAside";
import { WallBar } from "./WallBar";
import { Whereabouts } from "./Whereabouts";
import "./live.css";

/** A wall of live cameras of any vehicles; the address holds all of it. */
export default function Live() {
  const { query } = location.value;
  const tiles = readTiles(query);
  const layout = readLayout(query);
  const sound = query.get("sound") ?? "";
  const wall = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  /** The tile that moves where others show stills. */
  const [focus, setFocus] = useState("");
  const [stills, setStills] = useState(false);
  useEffect(() => {
    document.title = `${t("live.title")} · Motorpool`;
  }, []);

  const chosen = chosenElsewhere.value;
  useEffect(() => {
    const index = tiles.findIndex(({ deviceId }) => deviceId === chosen?.vehicle);
    const tile = wall.current?.children[index];
    // Its first button, so that the keys of the player are those of this tile.
    tile?.querySelector("button")?.focus();
    tile?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  function show(
    next: readonly TileId[],
    { heard = sound, as = layout }: { heard?: string; as?: Layout } = {},
  ) {
    const known = next.some((tile) => writeTile(tile) === heard);
    // Who adds or removes cameras can come back to the wall of before.
    const same = next.length === tiles.length;
    go(wallAddress(next, as, known ? heard : ""), { replace: same });
  }
  function add(added: readonly TileId[]) {
    const names = new Set(tiles.map(writeTile));
    const all = [...tiles, ...added.filter((tile) => !names.has(writeTile(tile)))];
    if (all.length > MOST_TILES) toast(t("live.full"), "bad");
    show(all.slice(0, MOST_TILES));
  }
  const focused = tiles.find((tile) => writeTile(tile) === focus) ?? tiles[0];
  useKeys("player", {
    fullScreen: () => fullScreen(wall.current),
    talk: (_, event) => focused !== undefined && speakByKey(focused, event),
    sound: () => show(tiles, { heard: sound ? "" : focus || (tiles[0] ? writeTile(tiles[0]) : "") }),
    camera: (key) => {
      const tile = tiles[Number(key) - 1];
      if (!tile) return false;
      show(moved(tiles, Number(key) - 1, 0), { as: "1+5" });
      return true;
    },
  });

  return (
    <div class="live">
      <WallBar tiles={tiles} layout={layout} onAdd={add} onLayout={(as) => show(tiles, { as })} />
      {tiles.length === 0 ? (
        <CameraChooser onAdd={add} />
      ) : (
        <div class={wallMap.shown.value ? "live-body with-map" : "live-body"}>
          <div
            ref={wall}
            class={layout === "1+5" ? "wall one-large" : "wall"}
            style={{ "--columns": columnsOf(layout, tiles.length) }}
          >
            {tiles.map((tile, index) => {
              const name = writeTile(tile);
              const still =
                name !== (focus || writeTile(tiles[0] ?? tile)) && (stills || index >= STILLS_FROM);
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: dragging is also done by the keys 1 to 9
                <div
                  key={name}
                  draggable
                  class={dragged === index ? "dragged" : ""}
                  onDragStart={() => setDragged(index)}
                  onDragEnd={() => setDragged(null)}
                  onDragOver={(event) => {
                    if (dragged !== null) event.preventDefault();
                  }}
                  onDrop={(event) => {
                    event.preventDefault();
                    if (dragged !== null) show(moved(tiles, dragged, index));
                    setDragged(null);
                  }}
                  onFocusCapture={() => {
                    setFocus(name);
                    chooseVehicle(tile.deviceId);
                  }}
                >
                  <Tile
                    {...tile}
                    place={<Whereabouts deviceId={tile.deviceId} />}
                    sound={sound === name}
                    onSound={() => show(tiles, { heard: sound === name ? "" : name })}
                    stills={still}
                    onStillsForOthers={() => {
                      setFocus(name);
                      setStills(true);
                    }}
                    {...(still && {
                      onChoose: () => setFocus(name),
                      chooseLabel: t("live.move"),
                      chooseIcon: "play",
                    })}
                    onRemove={() => show(tiles.filter((_, each) => each !== index))}
                  />
                </div>
              );
            })}
          </div>
          {wallMap.shown.value && focused && <VehicleMapAside id={focused.deviceId} isNamed />}
        </div>
      )}
    </div>
  );
}
