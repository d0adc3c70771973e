/** Tables of changes to devices, as `POST /devices/import` takes them (docs/devices.md#import-and-export). */

import { post } from "../../../api/call";
import type { Device, ImportedRow, ImportResult } from "../../../api/types";
import { drop } from "../../../state/responseCache";

/** Rows of one request. */
const AT_ONCE = 1000;

/** CSV text (RFC 4180) of rows; the first one has the names of the columns. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Check what a file would change; nothing is stored. Throws a `Problem`. */
export function tryFile(file: Blob, signal: AbortSignal): Promise<ImportResult> {
  return send(file, { dryRun: true }, signal);
}

/** Store a file: all of it, or with `skipFaulty` the rows without faults. Throws a `Problem`. */
export function importFile(file: Blob, skipFaulty: boolean): Promise<ImportResult> {
  return send(file, { skipFaulty });
}

async function send(file: Blob, query: Record<string, boolean>, signal?: AbortSignal): Promise<ImportResult> {
  try {
    const text = new Blob([file], { type: "text/csv" });
    return await post<ImportResult>("/devices/import", text, query, signal);
  } finally {
    drop("/devices");
  }
}

/** What several devices are to have: columns of an import with their texts. */
export type Changes = ReadonlyMap<string, string>;

/** Make the same changes to several devices; what became of each. Throws a `Problem`. */
export async function changeSeveral(
  devices: readonly Pick<Device, "uniqueId">[],
  changes: Changes | ((device: Pick<Device, "uniqueId">) => Changes),
  onDone: (count: number) => void = () => {},
): Promise<ImportResult> {
  const rows: ImportedRow[] = [];
  const all = { stored: false, created: 0, updated: 0, unchanged: 0, faulty: 0 };
  for (let start = 0; start < devices.length; start += AT_ONCE) {
    const some = devices.slice(start, start + AT_ONCE);
    const table = some.map((device) => {
      const own = typeof changes === "function" ? changes(device) : changes;
      return { columns: [...own.keys()], cells: [device.uniqueId, ...own.values()] };
    });
    const text = csvOf([["uniqueId", ...(table[0]?.columns ?? [])], ...table.map(({ cells }) => cells)]);
    const part = await importFile(new Blob([text]), true);
    all.stored ||= part.stored;
    for (const name of ["created", "updated", "unchanged", "faulty"] as const) all[name] += part[name];
    rows.push(...part.rows);
    onDone(start + some.length);
  }
  return { ...all, rows };
}
