import { afterEach, expect, test, vi } from "vitest";
import { type Change, kindsOf, saveLinks } from "./links";

const of = (id: number, isLinked = true): Change => ({
  owner: "user",
  ownerId: 1,
  kind: "deviceId",
  id,
  name: `Van ${id}`,
  isLinked,
});

/** Answer requests by what they would link; the bodies that came. */
function answering(refuse: (ids: readonly number[]) => string | null) {
  const sent: [string, readonly number[]][] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    const ids = (JSON.parse(String(init.body)) as { deviceId: number }[]).map((each) => each.deviceId);
    sent.push([init.method ?? "", ids]);
    const text = refuse(ids);
    return text === null ? new Response(null, { status: 204 }) : new Response(text, { status: 400 });
  });
  return sent;
}

afterEach(() => vi.unstubAllGlobals());

test("changes of a kind go out together, added and removed apart", async () => {
  const sent = answering(() => null);
  expect(await saveLinks([of(1), of(2, false), of(3)])).toEqual([]);
  expect(sent).toEqual([
    ["POST", [1, 3]],
    ["DELETE", [2]],
  ]);
});

test("a link that is refused is named, and the others are saved", async () => {
  const bad = new Set([2, 4]);
  const sent = answering((ids) => {
    const index = ids.findIndex((id) => bad.has(id));
    return index < 0 ? null : `[${index}].deviceId: no access to it, or no such`;
  });
  const failures = await saveLinks([of(1), of(2), of(3), of(4)]);
  expect(failures.map(({ change, text }) => [change.id, text])).toEqual([
    [2, "No access to it, or no such"],
    [4, "No access to it, or no such"],
  ]);
  expect(sent.at(-1)).toEqual(["POST", [1, 3]]);
});

test("a refusal of all is said of each, and many refusals end the attempts", async () => {
  answering(() => "the user is read-only");
  const failures = await saveLinks([of(1), of(2)]);
  expect(failures.map(({ text }) => text)).toEqual(["The user is read-only.", "The user is read-only."]);
  const sent = answering(() => "[0].deviceId: no");
  const many = Array.from({ length: 60 }, (_, index) => of(index + 1));
  expect(await saveLinks(many)).toHaveLength(60);
  expect(sent.length).toBeLessThan(30);
});

test("a list of over a thousand is sent in parts", async () => {
  const sent = answering(() => null);
  await saveLinks(Array.from({ length: 2500 }, (_, index) => of(index + 1)));
  expect(sent.map(([, ids]) => ids.length)).toEqual([1000, 1000, 500]);
});

test("devices and groups are of users alone", () => {
  expect(kindsOf("user")).toContain("deviceId");
  expect(kindsOf("group")).not.toContain("deviceId");
  expect(kindsOf("device")).toContain("linkedDeviceId");
});
