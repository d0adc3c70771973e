import type { Company } from "../api/types";
import { read, useLoaded } from "../state/saved";
import { may, session } from "../state/session";

/** The companies of whose tickets the reader sees some; none for those who change nothing, undefined until known. */
export function useCompanies(): readonly Company[] | undefined {
  const open = may("edit") && !session.value?.temporary;
  return useLoaded(`companies ${open}`, () =>
    open ? read<Company[]>("/companies", { excludeAttributes: true }) : Promise.resolve([]),
  ).value;
}
