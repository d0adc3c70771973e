/** Two edits of one record: which fields differ, and both together. Attributes count one by one. */

interface Edited {
  attributes?: Record<string, unknown> | null;
}

/** The fields in which two records differ: `name`, `attributes.color`. */
export function differing<T extends Edited>(one: T, other: T): string[] {
  const [first, second] = [fieldsOf(one), fieldsOf(other)];
  const names = new Set([...first.keys(), ...second.keys()]);
  return [...names].filter((name) => textOf(first.get(name)) !== textOf(second.get(name))).sort();
}

/** `mine` on top of `theirs`: what was changed since `base` in the one, all else as in the other. */
export function merged<T extends Edited>(base: T, mine: T, theirs: T): T {
  const changed = differing(base, mine);
  const result: Record<string, unknown> = { ...(theirs as Record<string, unknown>) };
  const attributes: Record<string, unknown> = { ...theirs.attributes };
  const values = fieldsOf(mine);
  for (const name of changed) {
    const value = values.get(name);
    const [whole, attribute] = partsOf(name);
    if (!attribute) result[whole] = value;
    else if (value === undefined) delete attributes[attribute];
    else attributes[attribute] = value;
  }
  return { ...result, attributes } as unknown as T;
}

function fieldsOf(record: Edited): Map<string, unknown> {
  const { attributes, ...fields } = record as Record<string, unknown> & Edited;
  const inner = Object.entries(attributes ?? {}).map(
    ([name, value]) => [`attributes.${name}`, value] as const,
  );
  return new Map([...Object.entries(fields), ...inner]);
}

function partsOf(name: string): [field: string, attribute: string] {
  return name.startsWith("attributes.") ? ["attributes", name.slice("attributes.".length)] : [name, ""];
}

/** Absent and null are the same in the API. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
