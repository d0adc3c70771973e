/** The pictures of a style (https://maplibre.org/maplibre-style-spec/sprite/). */

import type { StyleImageMetadata } from "maplibre-gl";

/** A longer wait for them would keep back the names of places. */
const SPRITE_MS = 5000;

/** A picture for `addImage` of MapLibre. */
export interface Picture {
  data: ImageData;
  options: Partial<StyleImageMetadata>;
}

export type Sprite = (name: string) => Picture | null;

/** One file of pictures; those of an id other than `default` have it before their names. */
export interface SpriteSource {
  id: string;
  url: string;
}

type Index = Record<string, StyleImageMetadata & { x: number; y: number; width: number; height: number }>;

/** Load the pictures of a style; null if there are none, or they cannot be read. Never rejects. */
export async function loadSprite(sources: readonly SpriteSource[]): Promise<Sprite | null> {
  const loaded = await Promise.all(sources.map((source) => load(source).catch(() => null)));
  const found = loaded.filter((each) => each !== null);
  if (found.length === 0) return null;
  return (name) => found.map((pick) => pick(name)).find((picture) => picture !== null) ?? null;
}

async function load({ id, url }: SpriteSource): Promise<Sprite> {
  const signal = AbortSignal.timeout(SPRITE_MS);
  const read = async (ending: string) => {
    const [path, query = ""] = url.split(/(?=\?)/);
    const density = window.devicePixelRatio > 1 ? "@2x" : "";
    const answer = await fetch(`${path}${density}.${ending}${query}`, {
      signal,
      referrerPolicy: "no-referrer",
      credentials: "omit",
    });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer;
  };
  const [index, picture] = await Promise.all([
    read("json").then((answer) => answer.json() as Promise<Index>),
    read("png").then(async (answer) => createImageBitmap(await answer.blob())),
  ]);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context?.drawImage(picture, 0, 0);
  const before = id === "default" ? "" : `${id}:`;
  return (name) => {
    const place = name.startsWith(before) ? index[name.slice(before.length)] : undefined;
    if (!place || !context) return null;
    const { x, y, width, height, ...options } = place;
    return { data: context.getImageData(x, y, width, height), options };
  };
}
