import { expect, test } from "vitest";
import { Health, isWeak } from "./health";

test("media that comes as it is played is not weak, whatever the length of segments", () => {
  const health = new Health();
  for (let now = 0; now <= 30; now += 2) health.buffered(2, now);
  const figures = health.figures(30);
  expect(figures.rate).toBeCloseTo(1);
  expect(isWeak(figures)).toBe(false);
});

test("the first seconds say nothing about the rate", () => {
  const health = new Health();
  health.buffered(1, 0);
  expect(health.figures(9).rate).toBeNull();
});

test("less media than time, with a picture that waits, is a weak line", () => {
  const health = new Health();
  for (let now = 0; now <= 20; now += 2) health.buffered(1.2, now);
  health.waits(true, 18);
  const figures = health.figures(20);
  expect(figures.rate).toBeCloseTo(0.6);
  expect(isWeak(figures)).toBe(true);
});

test("six seconds of waiting within a minute are a weak line, and a minute later they are forgotten", () => {
  const health = new Health();
  health.waits(true, 100);
  health.waits(false, 103);
  health.waits(true, 120);
  expect(isWeak(health.figures(122.5))).toBe(false);
  expect(isWeak(health.figures(123))).toBe(true);
  health.waits(false, 124);
  expect(health.figures(150).short).toBeCloseTo(7);
  expect(health.figures(185).short).toBe(0);
});

test("dropped frames are those of the last ten seconds", () => {
  const health = new Health();
  health.counted(0, 0, 0);
  health.counted(100, 0, 5);
  expect(health.figures(5).dropped).toBe(0);
  health.counted(150, 50, 10);
  health.counted(170, 130, 15);
  expect(health.figures(15).dropped).toBeCloseTo(130 / 200);
});
