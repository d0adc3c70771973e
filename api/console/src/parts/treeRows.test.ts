import { describe, expect, test } from "vitest";
import { branchOf, parentInward, parentOutward, possibleParents, treeRows } from "./treeRows";

describe("a tree", () => {
  const node = (id: number, name: string, parentId = 0) => ({ id, name, parentId });
  const rows = treeRows([
    node(1, "Vehicle"),
    node(2, "Camera"),
    node(3, "Accident", 1),
    node(4, "Breakdown", 1),
    node(5, "Engine", 4),
    node(6, "Lost", 99),
  ]);

  test("has each above those below it, by name, and keeps what lies below nothing", () => {
    expect(rows.map(({ node: { name }, depth }) => `${depth} ${name}`)).toEqual([
      "0 Camera",
      "0 Lost",
      "0 Vehicle",
      "1 Accident",
      "1 Breakdown",
      "2 Engine",
    ]);
  });

  test("moves nothing below itself", () => {
    expect([...branchOf(rows, 1)].sort()).toEqual([1, 3, 4, 5]);
    expect([...possibleParents(rows, 4)].sort()).toEqual([0, 1, 2, 3, 6]);
  });

  test("moves by keys below the one before, and beside its parent", () => {
    expect(parentInward(rows, 4)).toBe(3);
    expect(parentInward(rows, 3)).toBeNull();
    expect(parentInward(rows, 2)).toBeNull();
    expect(parentInward(rows, 1)).toBe(6);
    expect(parentOutward(rows, 5)).toBe(1);
    expect(parentOutward(rows, 4)).toBe(0);
    expect(parentOutward(rows, 1)).toBeNull();
  });
});
