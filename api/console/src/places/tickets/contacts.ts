/** Contacts by id: there may be many in a company, so each is read when it is shown. */

import type { Contact } from "../../api/types";
import { read, useLoaded } from "../../state/responseCache";

/** A contact; undefined until it is known, and for id 0. */
export function useContact(id: number): Contact | undefined {
  return useLoaded(`contact ${id}`, () =>
    id ? read<Contact>(`/contacts/${id}`) : Promise.resolve(undefined),
  ).value;
}
