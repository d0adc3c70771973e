/** Who moves the cursor beside a film: the picture, or the hand and the clock of the replay. Pure. */

export type Mastery =
  /** No film is open: hand and clock. */
  | { name: "free" }
  /** The picture. */
  | { name: "film" }
  /** The vehicle goes on from elsewhere: nobody, until a picture of there comes. `asked` once it was told so. */
  | { name: "moving"; to: number; asked: boolean }
  /** Hand and clock, where the film has nothing; it rests. */
  | { name: "away" }
  /** Hand and clock: the film is over, or cannot be played. */
  | { name: "ended" };

export type Happening =
  | { name: "opened" }
  | { name: "closed" }
  | { name: "ended" }
  /** The film shows another instant. */
  | { name: "picture"; at: number; held: boolean }
  /**
   * Hand or clock placed the cursor. The film `has` the instant, or the vehicle was `asked` for it and can go on from
   * there, or there is `nothing`.
   */
  | { name: "placed"; at: number; film: "has" | "asked" | "nothing" }
  /** The hand rests where the vehicle can go on: it is asked now. */
  | { name: "rested" }
  /** The vehicle refused. */
  | { name: "refused" };

/** What is to be done: the cursor follows the picture, the film goes on, waits for the vehicle, or is left. */
export type Act = "show" | "goOn" | "wait" | "leave" | null;

/** A vehicle begins with the key frame before the instant, which is at most so much earlier or later. */
const NEAR_MS = 5000;
export const FREE: Mastery = { name: "free" };
const FILM: Mastery = { name: "film" };
const AWAY: Mastery = { name: "away" };
const ENDED: Mastery = { name: "ended" };

/** Who moves the cursor after something happened, and what is to be done. Nobody pulls it from where a hand put it. */
export function next(before: Mastery, happening: Happening): { mastery: Mastery; act: Act } {
  const stay = { mastery: before, act: null };
  switch (happening.name) {
    case "opened":
      return { mastery: FILM, act: null };
    case "closed":
      return { mastery: FREE, act: null };
    case "ended":
      return before.name === "film" ? { mastery: ENDED, act: null } : stay;
    case "picture":
      if (happening.held) return stay;
      if (before.name === "film") return { mastery: before, act: "show" };
      if (before.name !== "moving" || !before.asked || Math.abs(happening.at - before.to) > NEAR_MS)
        return stay;
      return { mastery: FILM, act: "show" };
    case "placed":
      if (before.name === "free") return stay;
      if (happening.film === "has") return { mastery: FILM, act: "goOn" };
      if (happening.film === "asked")
        return { mastery: { name: "moving", to: happening.at, asked: false }, act: "wait" };
      // Where the clock moves the cursor already it goes on.
      return { mastery: AWAY, act: before.name === "film" || before.name === "moving" ? "leave" : null };
    case "rested":
      return before.name === "moving" ? { mastery: { ...before, asked: true }, act: null } : stay;
    case "refused":
      return before.name === "moving" ? { mastery: AWAY, act: "leave" } : stay;
  }
}

/** Whether the film is master. */
export function leads({ name }: Mastery): boolean {
  return name === "film" || name === "moving";
}
