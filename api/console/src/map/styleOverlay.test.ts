import { describe, expect, test } from "vitest";
import { Unreadable } from "./layerProblem";
import { overlayOf } from "./styleOverlay";

const URL_OF_STYLE = "https://tiles.example/styles/day?key=1";

function layers(...layouts: Record<string, unknown>[]) {
  return layouts.map((layout, index) => ({ id: `l${index}`, type: "symbol", source: "a", layout }));
}

function fieldsOf(language: string, ...fields: unknown[]) {
  const style = {
    version: 8,
    sources: { a: {} },
    layers: layers(...fields.map((each) => ({ "text-field": each }))),
  };
  return overlayOf(style, URL_OF_STYLE, language).layers.map(
    (layer) => (layer as { layout: Record<string, unknown> }).layout["text-field"],
  );
}

describe("a style over the outlines", () => {
  test("has ids of its own, whole addresses and no fonts", () => {
    const found = overlayOf(
      {
        version: 8,
        glyphs: "/fonts/{fontstack}/{range}.pbf",
        sprite: "sprites/one",
        sources: {
          a: { type: "vector", url: "/planet" },
          b: { type: "raster", tiles: ["../photos/{z}/{x}/{y}.png"], maxzoom: 9 },
        },
        layers: [
          { id: "ground", type: "background" },
          { id: "streets", type: "line", source: "a", "source-layer": "streets" },
        ],
      },
      URL_OF_STYLE,
      "en",
    );
    expect(found).toEqual({
      sources: {
        "overlay:a": { type: "vector", url: "https://tiles.example/planet" },
        "overlay:b": { type: "raster", tiles: ["https://tiles.example/photos/{z}/{x}/{y}.png"], maxzoom: 9 },
      },
      layers: [
        { id: "overlay:ground", type: "background" },
        { id: "overlay:streets", type: "line", source: "overlay:a", "source-layer": "streets" },
      ],
      sprites: [{ id: "default", url: "https://tiles.example/styles/sprites/one" }],
    });
  });

  test("has names in the reader's language where there are any", () => {
    const name = ["coalesce", ["get", "name_en"], ["get", "name"]];
    expect(fieldsOf("pt", name, "{name:latin}\n{name:nonlatin}", ["get", "ref"], "{housenumber}")).toEqual([
      ["coalesce", ["get", "name:pt"], name],
      ["coalesce", ["get", "name:pt"], ["get", "name:latin"], ["get", "name:nonlatin"], ""],
      ["get", "ref"],
      "{housenumber}",
    ]);
    expect(fieldsOf("pt-BR", ["get", "name"])).toEqual([["coalesce", ["get", "name:pt"], ["get", "name"]]]);
    const byZoom = { stops: [[3, "{name}"]] };
    expect(fieldsOf("pt", byZoom)).toEqual([byZoom]);
  });

  test.each([
    null,
    [],
    "style",
    {},
    { version: 7, sources: {}, layers: [] },
    { version: 8, sources: {}, layers: [1] },
  ])("is refused if it is none: %j", (json) => {
    expect(() => overlayOf(json, URL_OF_STYLE, "en")).toThrow(Unreadable);
  });
});
