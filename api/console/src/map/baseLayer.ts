/**
 * The layer over the outlines of a map: added once it is read, shown once its first tile is there, and taken away where
 * its server fails. Until then, and afterwards, the map is as it is without tiles.
 */

import type { ErrorEvent, Map as MapLibre, MapSourceDataEvent } from "maplibre-gl";
import type { Layer } from "./base";
import { type Credit, creditsOf } from "./credits";
import { type LayerProblem, problemOf } from "./layerProblem";
import { loadOverlay, type Overlay } from "./overlay";
import { PREFIX } from "./styleOverlay";
import { END_OF_WORLD, WORLD_LABELS, WORLD_LAYERS } from "./world";

/** After this the reader learns why there is nothing to see; it may still come. */
const PATIENCE_MS = 3000;
const GIVE_UP_MS = 30_000;
/** So many tiles in a row that cannot be had are a server that is away: no more are asked for. */
const MOST_FAILURES = 4;

/** What a map shows over its outlines. */
export interface LayerState {
  isShown: boolean;
  /** What it names as its sources. */
  credits: Credit[];
  /** Why the layer is not shown; null while it is not expected, or not yet missed. */
  problem: LayerProblem | null;
}

const NOTHING: LayerState = { isShown: false, credits: [], problem: null };

export class BaseLayer {
  #layer: Layer | null = null;
  #dark = false;
  /** Whether the style of the map is loaded. */
  #isReady = false;
  #overlay: Overlay | null = null;
  #pictures = new Set<string>();
  #run: AbortController | null = null;
  #late = 0;
  #failures = 0;
  #lastFailure: unknown = null;
  #state = NOTHING;
  readonly #online = () => this.#state.problem && this.#begin();

  /** `changed` learns what is shown whenever that changes. */
  constructor(
    private readonly map: MapLibre,
    private readonly language: string,
    private readonly changed: (state: LayerState) => void,
  ) {
    map.on("sourcedata", (event) => this.#arrived(event));
    window.addEventListener("online", this.#online);
  }

  /** Whether there are outlines only. */
  get isAbsent(): boolean {
    return this.#layer === null || this.#state.problem !== null;
  }

  /** Whether the outlines are seen for longer than until the layer is there. */
  get needsOutlines(): boolean {
    return this.isAbsent || (this.#state.isShown && this.#backgrounds().length === 0);
  }

  /** Show another layer; null for the outlines alone. */
  set(layer: Layer | null): void {
    if (layer === this.#layer) return;
    this.#layer = layer;
    if (this.#isReady) this.#begin();
  }

  /** The map has a new style, with outlines only. */
  restart(dark: boolean): void {
    this.#isReady = true;
    this.#dark = dark;
    this.#overlay = null;
    this.#pictures.clear();
    this.#begin();
  }

  /** The style of the map is about to be replaced. */
  leave(): void {
    this.#isReady = false;
    this.#stop();
  }

  /** Take note of an error of the map; false if it is none of this layer. */
  hears(event: ErrorEvent): boolean {
    if (!("sourceId" in event) || !String(event.sourceId).startsWith(PREFIX)) return false;
    if (!this.#overlay) return true;
    this.#lastFailure = event.error;
    this.#failures += 1;
    if (!("tile" in event) || this.#failures >= MOST_FAILURES) this.#fail(event.error);
    return true;
  }

  /** Have a picture of the style for the map, if it is one. */
  async draw(name: string): Promise<boolean> {
    const overlay = this.#overlay;
    const picture = (await overlay?.sprite)?.(name);
    if (!picture || overlay !== this.#overlay) return false;
    if (this.map.hasImage(name)) return true;
    this.map.addImage(name, picture.data, picture.options);
    this.#pictures.add(name);
    return true;
  }

  close(): void {
    this.leave();
    window.removeEventListener("online", this.#online);
  }

  get #url(): string {
    return (this.#dark ? this.#layer?.dark : this.#layer?.light) ?? "";
  }

  #begin(): void {
    this.#stop();
    this.#remove();
    this.#tell(NOTHING);
    if (!this.#layer) return;
    const run = new AbortController();
    this.#run = run;
    this.#failures = 0;
    this.#lastFailure = null;
    this.#late = window.setTimeout(() => this.#miss(), PATIENCE_MS);
    const tooLate = new DOMException("no answer", "TimeoutError");
    const givingUp = setTimeout(() => run.abort(tooLate), GIVE_UP_MS);
    loadOverlay(this.#url, this.#dark, this.language, run.signal)
      .then((overlay) => {
        if (this.#run === run) this.#add(overlay);
      })
      .catch((error: unknown) => {
        if (this.#run === run) this.#fail(error);
      })
      .finally(() => clearTimeout(givingUp));
  }

  #stop(): void {
    clearTimeout(this.#late);
    this.#run?.abort();
    this.#run = null;
  }

  #add(overlay: Overlay): void {
    this.#overlay = overlay;
    for (const [id, source] of Object.entries(overlay.sources)) this.map.addSource(id, source);
    for (const layer of overlay.layers) {
      // What covers the outlines comes with the first tile.
      if (layer.type === "background")
        this.map.addLayer({ ...layer, layout: { visibility: "none" } }, END_OF_WORLD);
      else this.map.addLayer(layer, END_OF_WORLD);
    }
  }

  #remove(): void {
    const overlay = this.#overlay;
    this.#overlay = null;
    if (!overlay) return;
    for (const { id } of overlay.layers) if (this.map.getLayer(id)) this.map.removeLayer(id);
    for (const id of Object.keys(overlay.sources)) if (this.map.getSource(id)) this.map.removeSource(id);
    for (const name of this.#pictures) this.map.removeImage(name);
    this.#pictures.clear();
    this.#show([...WORLD_LAYERS, ...WORLD_LABELS], true);
  }

  #arrived({ sourceId, tile }: MapSourceDataEvent): void {
    if (!this.#overlay || !sourceId.startsWith(PREFIX) || !tile?.hasData()) return;
    this.#failures = 0;
    if (this.#state.isShown || sourceId !== mainSource(this.#overlay)) return;
    clearTimeout(this.#late);
    const backgrounds = this.#backgrounds();
    this.#show(backgrounds, true);
    this.#show(WORLD_LABELS, false);
    // What cannot be seen need not be drawn.
    if (backgrounds.length > 0) this.#show(WORLD_LAYERS, false);
    this.#tell({ isShown: true, credits: this.#credits(), problem: null });
  }

  /** Nothing has come in time. */
  #miss(): void {
    if (this.#lastFailure) this.#fail(this.#lastFailure);
    else {
      const problem = problemOf(null, this.#url);
      this.#tell({
        ...NOTHING,
        problem: { ...problem, kind: problem.kind === "offline" ? "offline" : "late" },
      });
    }
  }

  #fail(error: unknown): void {
    this.#stop();
    this.#remove();
    this.#tell({ ...NOTHING, problem: problemOf(error, this.#url) });
  }

  #credits(): Credit[] {
    const told = Object.keys(this.#overlay?.sources ?? {}).map((id) => this.map.getSource(id)?.attribution);
    const own = this.#layer?.attribution;
    return [...(own ? [{ text: own }] : []), ...[...new Set(told)].flatMap((html) => creditsOf(html ?? ""))];
  }

  /** What hides the outlines. */
  #backgrounds(): string[] {
    const layers = this.#overlay?.layers ?? [];
    return layers.filter(({ type }) => type === "background").map(({ id }) => id);
  }

  #show(layers: readonly string[], visible: boolean): void {
    for (const id of layers) {
      if (this.map.getLayer(id)) this.map.setLayoutProperty(id, "visibility", visible ? "visible" : "none");
    }
  }

  #tell(state: LayerState): void {
    this.#state = state;
    this.changed(state);
  }
}

/** The source of most layers: others are shades of mountains and the like. */
function mainSource({ sources, layers }: Overlay): string | undefined {
  const count = (id: string) => layers.filter((layer) => "source" in layer && layer.source === id).length;
  return Object.keys(sources).sort((one, other) => count(other) - count(one))[0];
}
