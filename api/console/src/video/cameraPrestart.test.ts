import { afterEach, expect, test, vi } from "vitest";
import { prestartCamera } from "./cameraPrestart";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("cameras are started one after the other, without those that have their turn meanwhile", async () => {
  const asked: string[] = [];
  const given: (() => void)[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    // One that fails holds up no other.
    return new Promise((_, reject) => given.push(() => reject(new TypeError("no answer"))));
  });
  let waits = true;
  prestartCamera("1", () => true);
  prestartCamera("2", () => waits);
  prestartCamera("3", () => true);
  await vi.waitFor(() => expect(asked).toEqual(["1?wait=0"]));
  waits = false;
  given.shift()?.();
  await vi.waitFor(() => expect(asked).toEqual(["1?wait=0", "3?wait=0"]));
});
