/** A style of MapLibre as a layer over the outlines: without fonts, in the reader's language; pure. */

import type { LayerSpecification, SourceSpecification } from "maplibre-gl";
import { Unreadable } from "./layerProblem";
import type { SpriteSource } from "./sprite";

/** Before the ids of sources and layers, so that they are no others of the map. */
export const PREFIX = "overlay:";

interface StyleOverlay {
  sources: Record<string, SourceSpecification>;
  layers: LayerSpecification[];
  sprites: SpriteSource[];
}

interface StyleJson {
  version: 8;
  sources: Record<string, Record<string, unknown>>;
  layers: Record<string, unknown>[];
  sprite?: string | SpriteSource[];
}

/**
 * Read a style of https://maplibre.org/maplibre-style-spec/ that was loaded from `url`; addresses in it may be relative
 * to that. Its `glyphs` are left out: letters are drawn with the fonts of the reader's computer, as all of the map, so
 * that no vehicle waits for the fonts of another server. Throws `Unreadable`.
 */
export function overlayOf(json: unknown, url: string, language: string): StyleOverlay {
  if (!isStyle(json)) throw new Unreadable("no style");
  const absolute = (address: unknown) => (typeof address === "string" ? resolve(address, url) : address);
  const sources = Object.entries(json.sources).map(([id, source]) => {
    const { url: index, tiles, data } = source;
    const resolved = {
      ...source,
      ...(index === undefined ? {} : { url: absolute(index) }),
      ...(Array.isArray(tiles) ? { tiles: tiles.map(absolute) } : {}),
      ...(data === undefined ? {} : { data: absolute(data) }),
    };
    return [PREFIX + id, resolved];
  });
  return {
    sources: Object.fromEntries(sources),
    layers: json.layers.map((layer) => layerOf(layer, language)),
    sprites: spritesOf(json.sprite).map(({ id, url: address }) => ({ id, url: resolve(address, url) })),
  };
}

function isStyle(json: unknown): json is StyleJson {
  const style = json as Partial<StyleJson> | null;
  return (
    style?.version === 8 &&
    Array.isArray(style.layers) &&
    style.layers.every((layer) => layer instanceof Object) &&
    style.sources instanceof Object &&
    Object.values(style.sources).every((source) => source instanceof Object)
  );
}

function layerOf(layer: Record<string, unknown>, language: string): LayerSpecification {
  const { id, source, layout } = layer;
  const named =
    layout instanceof Object && "text-field" in layout ? (layout as Record<string, unknown>) : null;
  return {
    ...layer,
    id: `${PREFIX}${id}`,
    ...(source === undefined ? {} : { source: `${PREFIX}${source}` }),
    ...(named ? { layout: { ...named, "text-field": inLanguage(named["text-field"], language) } } : {}),
  } as LayerSpecification;
}

/** Names in the language, where a place has one; other texts, such as numbers of roads, stay. */
function inLanguage(field: unknown, language: string): unknown {
  if (!/["{]name/.test(JSON.stringify(field) ?? "")) return field;
  const own = ["get", `name:${language.split("-")[0]}`];
  if (Array.isArray(field)) return ["coalesce", own, field];
  if (typeof field !== "string") return field;
  // `{name:latin} {name:nonlatin}`, which expressions do not know.
  const names = [...field.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ["get", name]);
  return ["coalesce", own, ...names, ""];
}

function spritesOf(sprite: StyleJson["sprite"]): SpriteSource[] {
  return typeof sprite === "string" ? [{ id: "default", url: sprite }] : (sprite ?? []);
}

function resolve(address: string, url: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return address;
  return new URL(address, url).href.replaceAll("%7B", "{").replaceAll("%7D", "}");
}
