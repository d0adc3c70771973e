/** The walls that a user has saved, in the user's attributes as names with addresses. */

import { saveAttributes, session } from "../../state/session";

export interface SavedWall {
  name: string;
  /** The query of its address. */
  query: string;
}

const ATTRIBUTE = "console.walls";
/** Attributes are bounded; more walls than these nobody finds again. */
export const MOST_WALLS = 50;

/** The saved walls, as the attribute has them; what is not a wall is left out. */
export function savedWalls(): readonly SavedWall[] {
  const found: unknown = session.value?.attributes[ATTRIBUTE];
  return Array.isArray(found) ? found.filter(isWall) : [];
}

/** Save a wall under a name; one of that name is replaced. */
export function saveWall(wall: SavedWall): Promise<void> {
  const rest = savedWalls().filter((each) => each.name !== wall.name);
  return saveAttributes({ [ATTRIBUTE]: [...rest, wall].slice(-MOST_WALLS) });
}

export function deleteWall(name: string): Promise<void> {
  const rest = savedWalls().filter((each) => each.name !== name);
  return saveAttributes({ [ATTRIBUTE]: rest.length > 0 ? rest : null });
}

function isWall(value: unknown): value is SavedWall {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "query" in value &&
    typeof value.query === "string"
  );
}
