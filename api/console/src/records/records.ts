/** Saving records without undoing what others changed. */

import { getVersioned, Problem, post, put, remove } from "../api/call";
import { differing } from "../state/edits";
import { drop } from "../state/responseCache";

/** Another edit was saved since the record was read; `fields` are those that it changed. */
export class Conflict<T> extends Error {
  constructor(
    readonly theirs: T,
    readonly fields: readonly string[],
  ) {
    super("changed meanwhile");
  }
}

/** A refusal of a field: its name as the API has it, and what the server says of it. */
export interface RefusedField {
  key: string;
  text: string;
}

/** Which field a refusal is about (`attributes.timezone: …`); null if it names none. */
export function refusedField(problem: unknown): RefusedField | null {
  if (!(problem instanceof Problem) || problem.status !== 400) return null;
  const found = /^([A-Za-z][\w.[\]]*): (.+)$/s.exec(problem.text.trim());
  if (!found?.[1] || !found[2]) return null;
  return { key: found[1], text: found[2].charAt(0).toUpperCase() + found[2].slice(1) };
}

interface Saved {
  id: number;
  attributes: { [name: string]: unknown };
}

/**
 * Store a record that was read as `base`, null for a new one. Throws a `Conflict` before anything is saved, else a
 * `Problem`.
 */
export async function saveRecord<T extends Saved>(path: string, base: T | null, mine: T): Promise<T> {
  try {
    if (base === null) {
      const { id: _, ...body } = mine;
      return await post<T>(path, body);
    }
    const { value, version } = await getVersioned<T>(`${path}/${base.id}`);
    const fields = differing(base, value);
    if (fields.length > 0) throw new Conflict(value, fields);
    return await put<T>(`${path}/${base.id}`, mine, version);
  } finally {
    drop(path);
  }
}

/** Change some of a record as it is now; what others changed meanwhile stays. Throws a `Problem`. */
export async function changeRecord<T extends Saved>(
  path: string,
  id: number,
  change: (now: T) => T,
): Promise<T> {
  try {
    const { value, version } = await getVersioned<T>(`${path}/${id}`);
    return await put<T>(`${path}/${id}`, change(value), version);
  } finally {
    drop(path);
  }
}

/** Delete a record. Throws a `Problem`. */
export async function deleteRecord(path: string, id: number): Promise<void> {
  try {
    await remove(`${path}/${id}`);
  } finally {
    drop(path);
  }
}
