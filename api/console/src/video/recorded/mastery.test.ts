import { describe, expect, test } from "vitest";
import { type Act, FREE, type Happening, leads, type Mastery, next } from "./mastery";

const AT = 1_000_000;
const picture = (at: number, held = false): Happening => ({ name: "picture", at, held });
const placed = (at: number, film: "has" | "asked" | "nothing"): Happening => ({ name: "placed", at, film });

/** The acts of what happens one after the other, and who is master then. */
function outcome(...happenings: Happening[]): { mastery: Mastery; acts: Act[] } {
  const acts: Act[] = [];
  let mastery = FREE;
  for (const each of happenings) {
    const turn = next(mastery, each);
    acts.push(turn.act);
    mastery = turn.mastery;
  }
  return { mastery, acts };
}

describe("beside an open film", () => {
  test("the picture moves the cursor, but not while a hand holds it", () => {
    const { acts } = outcome({ name: "opened" }, picture(AT), picture(AT + 100, true), picture(AT + 200));
    expect(acts).toEqual([null, "show", null, "show"]);
  });

  test("a cursor that is put where the film has nothing stays there, whatever pictures still come", () => {
    const { mastery, acts } = outcome(
      { name: "opened" },
      picture(AT),
      placed(AT + 600_000, "nothing"),
      picture(AT + 100),
      picture(AT + 200),
    );
    expect(acts).toEqual([null, "show", "leave", null, null]);
    expect(leads(mastery)).toBe(false);
    // The clock of the replay takes it on from there, and film is left once only.
    expect(next(mastery, placed(AT + 601_000, "nothing"))).toEqual({ mastery, act: null });
  });

  test("a cursor that comes back is the film's again", () => {
    const { mastery, acts } = outcome(
      { name: "opened" },
      placed(0, "nothing"),
      placed(AT, "has"),
      picture(AT),
    );
    expect(acts).toEqual([null, "leave", "goOn", "show"]);
    expect(leads(mastery)).toBe(true);
  });

  test("a film that is over gives the cursor to the clock, and takes it back where it has the instant", () => {
    const { mastery, acts } = outcome({ name: "opened" }, { name: "ended" }, placed(AT + 1000, "nothing"));
    expect(acts).toEqual([null, null, null]);
    expect(leads(mastery)).toBe(false);
    expect(leads(outcome({ name: "opened" }, { name: "ended" }, placed(AT, "has")).mastery)).toBe(true);
  });
});

describe("a vehicle that goes on from elsewhere", () => {
  const asked = [{ name: "opened" }, placed(AT + 60_000, "asked"), { name: "rested" }] as const;

  test("moves the cursor with its first picture of there, not with those of before", () => {
    const { mastery, acts } = outcome(...asked, picture(AT), picture(AT + 58_000), picture(AT + 58_100));
    expect(acts).toEqual([null, "wait", null, null, "show", "show"]);
    expect(mastery.name).toBe("film");
  });

  test("moves nothing before it was asked, however near the old pictures are", () => {
    const { acts } = outcome({ name: "opened" }, placed(AT + 2000, "asked"), picture(AT), { name: "rested" });
    expect(acts).toEqual([null, "wait", null, null]);
  });

  test("is forgotten where another film is opened, and left where it refuses", () => {
    expect(outcome(...asked, { name: "opened" }).mastery.name).toBe("film");
    const { mastery, acts } = outcome(...asked, { name: "refused" }, picture(AT + 60_000));
    expect(mastery.name).toBe("away");
    expect(acts.slice(-2)).toEqual(["leave", null]);
  });
});

test("without a film nobody but hand and clock moves the cursor", () => {
  const { mastery, acts } = outcome(
    placed(AT, "nothing"),
    picture(AT),
    { name: "rested" },
    { name: "ended" },
  );
  expect(mastery).toEqual(FREE);
  expect(acts).toEqual([null, null, null, null]);
  expect(outcome({ name: "opened" }, { name: "closed" }, picture(AT)).acts.at(-1)).toBeNull();
});
