import { signal } from "@preact/signals";

/** The vehicle that is being shared, or null. */
export const sharing = signal<number | null>(null);

/** Open the dialog that shares a vehicle. */
export function openSharing(id: number): void {
  sharing.value = id;
}
