/** Attributes of positions that are numbers, for a choice of sensors. */

import { MEASURES } from "../../format/attributeTable";
import type { Pick } from "../../parts/Picker";
import type { Names } from "./kinds";

/** Keys such as `temp#` stand for `temp1` and so on; so many of each are offered. */
const NUMBERED = 4;

/** What has a unit is measured; others are flags and words. */
export function numericAttributes(names: Names): readonly Pick[] {
  const keys = MEASURES.filter(([unit]) => unit !== "" && unit !== "time").flatMap(([, , text]) =>
    text.split(" "),
  );
  return keys
    .flatMap((key) =>
      key.includes("#")
        ? Array.from({ length: NUMBERED }, (_, index) => key.replace("#", `${index + 1}`))
        : [key],
    )
    .map((key) => ({ id: key, name: names.attribute(key), note: key }));
}
