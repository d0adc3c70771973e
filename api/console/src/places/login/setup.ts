import { linkTokens } from "../../linkTokens";

/** The set-up token, which only requests that make the first user have (docs/users.md#the-first-user). */
export function setupHeaders(): Record<string, string> {
  return linkTokens.setup ? { "X-Setup-Token": linkTokens.setup } : {};
}
