/** Companies and what belongs to them, as they are read. */

import { get } from "../../api/call";
import type { Company, CompanyRole, CompanyUser } from "../../api/types";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";

export type Role = CompanyRole["role"];

/** What all records of a company have. */
export interface Owned {
  id: number;
  companyId: number;
  name: string;
  disabled: boolean;
  attributes: { [name: string]: unknown };
}

/** The records of a company, such as its `/teams`. */
export function useRecords<T>(path: string, companyId: number): Loaded<readonly T[]> {
  return useLoaded(`${path} ${companyId}`, () => read<readonly T[]>(path, { companyId }));
}

/** A company; undefined until it is known. */
export function useCompany(id: number): Loaded<Company> {
  return useLoaded(`company ${id}`, () => read<Company>(`/companies/${id}`));
}

/** The companies that the reader is linked to, administrators all, with what the reader may do in each. */
export function useCompaniesWithRoles(): Loaded<readonly { company: Company; role: Role }[]> {
  return useLoaded("companies with roles", async () => {
    const all = may("administer");
    const [companies, roles] = await Promise.all([
      read<readonly Company[]>("/companies", { ...(all && { all: true }) }),
      readRoles(),
    ]);
    return companies.flatMap((company) => {
      const role = all ? "administrator" : roles.get(company.id);
      return role ? [{ company, role }] : [];
    });
  });
}

/** What the reader may do in a company; undefined until it is known, null for nothing. */
export function useRole(companyId: number): Role | null | undefined {
  const found = useLoaded("roles", readRoles).value;
  if (may("administer")) return "administrator";
  return found && (found.get(companyId) ?? null);
}

async function readRoles(): Promise<ReadonlyMap<number, Role>> {
  const found = await read<readonly CompanyRole[]>("/companies/roles");
  return new Map(found.map(({ companyId, role }) => [companyId, role]));
}

/** Whether a role sets the company up. */
export function manages(role: Role | null | undefined): boolean {
  return role === "manager" || role === "administrator";
}

/** Whether a role handles tickets. */
export function handles(role: Role | null | undefined): boolean {
  return manages(role) || role === "agent";
}

/** Who is linked to a company. */
export function useUsers(companyId: number): Loaded<readonly CompanyUser[]> {
  return useLoaded(`users of ${companyId}`, (signal) =>
    get<readonly CompanyUser[]>(`/companies/${companyId}/users`, undefined, signal),
  );
}

/** What a user is in the company. */
export function roleOf({ manager, agent }: CompanyUser): Role {
  if (manager) return "manager";
  return agent ? "agent" : "linked";
}
