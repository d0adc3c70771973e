/** Why a layer of the map cannot be shown. */

/** The host answers with another status than 200. */
export class HttpStatus extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}

/** What it sends is not what was expected. */
export class Unreadable extends Error {}

export interface LayerProblem {
  /** `late`: nothing has come yet, and may still come. */
  kind: "late" | "offline" | "unreachable" | "status" | "unreadable";
  /** The server that was asked. */
  host: string;
  /** Of `status`. */
  status: number;
}

/** What an error of a request, or of MapLibre, says about the server at a URL. */
export function problemOf(error: unknown, url: string): LayerProblem {
  const { host } = new URL(url, location.origin);
  if (!navigator.onLine) return { kind: "offline", host, status: 0 };
  const told = error instanceof Object && "status" in error ? Number(error.status) : null;
  if (told) return { kind: "status", host, status: told };
  // `fetch` says of a host that is away, blocked or refused by the policy no more than that.
  const isAway = told === 0 || error instanceof TypeError || (error as Error | null)?.name === "TimeoutError";
  return { kind: isAway ? "unreachable" : "unreadable", host, status: 0 };
}
