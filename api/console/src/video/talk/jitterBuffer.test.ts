import { expect, test } from "vitest";
import { JitterBuffer } from "./jitterBuffer";

function numbers(from: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, at) => from + at);
}

function pulled(buffer: JitterBuffer, count: number): number[] {
  const output = new Float32Array(count);
  buffer.pull(output);
  return [...output];
}

test("plays in order once a little has come, and waits again after a gap", () => {
  const buffer = new JitterBuffer(100);
  buffer.push(numbers(1, 10));
  expect(pulled(buffer, 4)).toEqual([0, 0, 0, 0]);
  buffer.push(numbers(11, 4));
  expect(pulled(buffer, 12)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(pulled(buffer, 4)).toEqual([13, 14, 0, 0]);
  buffer.push(numbers(15, 4));
  expect(pulled(buffer, 2)).toEqual([0, 0]);
  buffer.push(numbers(19, 8));
  expect(pulled(buffer, 2)).toEqual([15, 16]);
});

test("what comes too late is caught up with", () => {
  const buffer = new JitterBuffer(100);
  for (let at = 0; at < 60; at += 10) buffer.push(numbers(at, 10));
  // 60 are more than half a second: the newest 12 are left.
  expect(pulled(buffer, 12)).toEqual([...numbers(48, 12)]);
  expect(pulled(buffer, 1)).toEqual([0]);
});
