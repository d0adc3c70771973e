import type { Company } from "../api/types";
import { read, useLoaded } from "../state/responseCache";
import { may, session } from "../state/session";

/** The companies of whose tickets the reader sees some; none for readers who change nothing, undefined until known. */
export function useCompanies(): readonly Company[] | undefined {
  return useLoaded(`companies ${mayAdd()}`, readCompanies).value;
}

/** As `useCompanies`, once. */
export async function readCompanies(): Promise<readonly Company[]> {
  return mayAdd() ? read<Company[]>("/companies", { excludeAttributes: true }) : [];
}

function mayAdd(): boolean {
  return may("edit") && !session.value?.temporary;
}
