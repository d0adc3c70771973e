/** Users: reading them, and what their fields say. */

import type { User, UserActivity } from "../../api/types";
import type { Key } from "../../i18n/translate";
import { askingOf } from "../../state/onScreen";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { may, server, session } from "../../state/session";

/** What limits a user, by the fields of the API (docs/users.md#restrictions). */
export const RESTRICTIONS = [
  "readonly",
  "deviceReadonly",
  "limitCommands",
  "disableReports",
  "fixedEmail",
] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

export type Role = "administrator" | "manager" | "user" | "guest";
export type State = "active" | "disabled" | "expired";

/** What a user is. */
export function roleOf({ administrator, temporary, userLimit }: User): Role {
  if (administrator) return "administrator";
  if (temporary) return "guest";
  return userLimit === 0 ? "user" : "manager";
}

/** Whether a user may log in, and why not. */
export function stateOf({ disabled, expirationTime }: User, now: number): State {
  if (disabled) return "disabled";
  return expirationTime !== null && Date.parse(expirationTime) <= now ? "expired" : "active";
}

/** The restrictions that a user has of their own; administrators are under none. */
export function restrictionsOf(user: User): readonly Restriction[] {
  return user.administrator ? [] : RESTRICTIONS.filter((flag) => user[flag]);
}

/** How a restriction is called in a list. */
export function restrictionLabel(flag: Restriction): Key {
  return `people.${flag}`;
}

export function nameOf({ name, email }: { name: string | null; email: string }): string {
  return name || email;
}

/** All users for administrators, their own for managers. */
export function useUsers(): Loaded<readonly User[]> {
  return useLoaded("users", () => read<readonly User[]>("/users", { excludeAttributes: true }));
}

/** How many vehicles a user sees, and when they were here; undefined until that is known. */
export const useActivity = askingOf<UserActivity>("/users/activity", ({ userId }) => userId, 200);

/** A new user with the restrictions that the server gives, and those that the reader cannot leave out. */
export function blankUser(): User {
  const given = (flag: Restriction) =>
    Boolean(server.value?.[flag] || (!may("administer") && session.value?.[flag]));
  return {
    id: 0,
    name: "",
    login: null,
    email: "",
    phone: null,
    readonly: given("readonly"),
    administrator: false,
    map: null,
    latitude: 0,
    longitude: 0,
    zoom: 0,
    coordinateFormat: null,
    disabled: false,
    expirationTime: may("administer") ? null : (session.value?.expirationTime ?? null),
    deviceLimit: 0,
    userLimit: 0,
    deviceReadonly: given("deviceReadonly"),
    limitCommands: given("limitCommands"),
    disableReports: given("disableReports"),
    fixedEmail: given("fixedEmail"),
    poiLayer: null,
    totpKey: null,
    temporary: false,
    attributes: {},
    password: null,
    currentPassword: null,
    totpNeeded: false,
    impersonatorId: 0,
    impersonatorName: null,
    viewOnly: false,
  };
}

/** A password that nobody is told: whoever is invited sets another one. */
export function untoldPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes));
}
