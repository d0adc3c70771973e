import { expect, test } from "vitest";
import {
  columnsOf,
  LAYOUTS,
  MOST_TILES,
  moved,
  readLayout,
  readTile,
  readTiles,
  type TileId,
  wallAddress,
} from "./tiles";

const queryOf = (address: string) => new URL(address, "http://console").searchParams;

test("a wall comes back from its address", () => {
  const tiles: readonly TileId[] = [
    { deviceId: 12, camera: 1 },
    { deviceId: 12, camera: 2 },
    { deviceId: 15, camera: 1 },
  ];
  for (const layout of [...LAYOUTS, "auto"] as const) {
    const query = queryOf(wallAddress(tiles, layout, "12.1"));
    expect(readTiles(query)).toEqual(tiles);
    expect(readLayout(query)).toBe(layout);
    expect(query.get("sound")).toBe("12.1");
  }
  expect(wallAddress([], "auto", "")).toBe("/live");
});

test("what is no tile is left out, and so is a second of the same and a seventeenth", () => {
  expect(["", "12", "a.1", "0.1", "1.0", "1.1.1", "-1.1", "1.1 "].map(readTile)).toEqual(Array(8).fill(null));
  expect(readTiles(queryOf("/live?tile=1.1&tile=x&tile=1.1&tile=1.2"))).toHaveLength(2);
  const many = Array.from({ length: 40 }, (_, index) => `tile=${index + 1}.1`).join("&");
  expect(readTiles(queryOf(`/live?${many}`))).toHaveLength(MOST_TILES);
});

test("the automatic layout is about square", () => {
  expect([0, 1, 2, 4, 5, 9, 10, 16].map((count) => columnsOf("auto", count))).toEqual([
    1, 1, 2, 2, 3, 3, 4, 4,
  ]);
  expect(LAYOUTS.map((layout) => columnsOf(layout, 1))).toEqual([1, 2, 3, 4, 3]);
});

test("a tile that is moved takes the place of another, and none is lost", () => {
  const tiles = [1, 2, 3, 4].map((deviceId) => ({ deviceId, camera: 1 }));
  const order = (found: readonly TileId[]) => found.map((each) => each.deviceId);
  expect(order(moved(tiles, 0, 2))).toEqual([2, 3, 1, 4]);
  expect(order(moved(tiles, 3, 0))).toEqual([4, 1, 2, 3]);
  expect(order(moved(tiles, 1, 1))).toEqual([1, 2, 3, 4]);
  expect(order(moved(tiles, 9, 0))).toEqual([1, 2, 3, 4]);
});
