/** Requests to the API under `/api`, with the session's cookie. */

import { ElementReader } from "./elements";
import { noteAnswer, reachable } from "./reachability";

/** A refusal; `message` is what the server says, for people to read. */
export class Problem extends Error {
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly text: string;
  /** Seconds after which to try again, or null. */
  readonly retryAfter: number | null;
  /** The scheme of `WWW-Authenticate`: `TOTP` asks for a one-time code (docs/authentication.md#login). */
  readonly scheme: string | null;

  constructor(status: number, text: string, retryAfter: number | null = null, scheme: string | null = null) {
    super(text);
    this.name = "Problem";
    this.status = status;
    this.text = text;
    this.retryAfter = retryAfter;
    this.scheme = scheme;
  }
}

/** A change that was not sent, because the server cannot be reached: nothing is kept to be sent later. */
class Unsent extends Problem {
  readonly unsent = true;

  constructor() {
    super(0, "");
  }
}

type Value = string | number | boolean;
/** Parameters of an address; those without a value are left out, arrays are repeated. */
export type Query = Record<string, Value | readonly Value[] | null | undefined>;
/** A JSON body, a form, or a file with its type. */
type Body = object | URLSearchParams | Blob | undefined;

/** Longest text of a refusal that is shown. */
const MAX_TEXT = 500;
/** Statuses with which a proxy says that it does not reach the server. */
const GATEWAY: readonly number[] = [502, 504];
/** Logging in and out is tried in any case. */
const LOGINS: readonly string[] = ["/api/session", "/api/session/token/login"];

let refused: () => void = () => {};

/** Call `handler` when a request is refused because nobody is logged in any more. */
export function onUnauthorized(handler: () => void): void {
  refused = handler;
}

/** `GET /api{path}`. */
export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return call<T>("GET", address(path, query), undefined, signal);
}

/** A page of a list, and how many rows there are in all (`X-Total-Count`). */
export interface Counted<T> {
  rows: T[];
  total: number;
}

/** As `get`, of a list that says how long it is. */
export async function getCounted<T>(path: string, query?: Query, signal?: AbortSignal): Promise<Counted<T>> {
  const answer = await request("GET", address(path, query), undefined, signal);
  const rows = await content<T[]>(answer);
  return { rows, total: Number(answer.headers.get("X-Total-Count") ?? rows.length) };
}

/** `POST /api{path}` with a JSON body or a form. */
export function post<T>(path: string, body?: Body, query?: Query, signal?: AbortSignal): Promise<T> {
  return call<T>("POST", address(path, query), body, signal);
}

/** `PUT /api{path}` with a JSON body. `version` refuses to overwrite what others changed (docs/http-api.md#versions). */
export function put<T>(path: string, body: object, version?: string, signal?: AbortSignal): Promise<T> {
  return call<T>("PUT", address(path), body, signal, version ? { "If-Match": version } : {});
}

/** `DELETE /api{path}`. */
export function remove(path: string, body?: object, signal?: AbortSignal): Promise<void> {
  return call<void>("DELETE", address(path), body, signal);
}

/**
 * As `get`, of a list that may be long: its elements in pieces, as they arrive. What ends before the list does is a
 * `Problem`.
 */
export async function* getParts<T>(
  path: string,
  query?: Query,
  signal?: AbortSignal,
): AsyncGenerator<readonly T[]> {
  const answer = await request("GET", address(path, query), undefined, signal);
  const elements = new ElementReader<T>();
  const reader = answer.body?.getReader();
  const leave = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", leave);
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      const found = elements.add(part.value);
      if (found.length > 0) yield found;
    }
  } catch (reason) {
    if (signal?.aborted || reason instanceof SyntaxError) throw reason;
    throw new Problem(0, "");
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
  if (!elements.isEnded) throw new Problem(0, "");
}

/** A record with its version, for `put` (docs/http-api.md#versions). */
export interface Versioned<T> {
  value: T;
  version: string;
}

/** As `get`, with the version of the record. */
export async function getVersioned<T>(path: string, signal?: AbortSignal): Promise<Versioned<T>> {
  const answer = await request("GET", address(path), undefined, signal);
  return { value: await content<T>(answer), version: answer.headers.get("ETag") ?? "" };
}

/** An answer with what its headers say of its time, in milliseconds since 1970. */
export interface Dated<T> {
  value: T;
  /** `Date`: when the server answered, in whole seconds. */
  date: number;
  /** `Last-Modified`, or null. */
  modified: number | null;
}

/** As `get`, with the times of the answer. */
export async function getDated<T>(path: string, query?: Query, signal?: AbortSignal): Promise<Dated<T>> {
  return dated<T>(await request("GET", address(path, query), undefined, signal));
}

/** As `post`, with the times of the answer. */
export async function postDated<T>(path: string, body: object, signal?: AbortSignal): Promise<Dated<T>> {
  return dated<T>(await request("POST", address(path), body, signal));
}

async function dated<T>(answer: Response): Promise<Dated<T>> {
  const time = (name: string) => {
    const found = Date.parse(answer.headers.get(name) ?? "");
    return Number.isNaN(found) ? null : found;
  };
  return {
    value: await content<T>(answer),
    date: time("Date") ?? Date.now(),
    modified: time("Last-Modified"),
  };
}

/** The address of an operation, for links, players and downloads. */
export function address(path: string, query?: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) parameters.append(name, String(each));
  }
  const text = parameters.toString();
  return `/api${path}${text && `?${text}`}`;
}

async function call<T>(...given: Parameters<typeof request>): Promise<T> {
  return content<T>(await request(...given));
}

async function request(
  method: string,
  url: string,
  body: Body,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  if (method !== "GET" && !LOGINS.includes(url) && !reachable.peek()) throw new Unsent();
  const options: RequestInit = { method, credentials: "same-origin", cache: "no-store", headers };
  if (signal) options.signal = signal;
  if (body instanceof URLSearchParams || body instanceof Blob) options.body = body;
  else if (body !== undefined) {
    options.headers = { ...headers, "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(url, options).catch((reason: unknown) => {
    if (signal?.aborted) throw reason;
    noteAnswer(false);
    throw new Problem(0, "");
  });
  noteAnswer(!GATEWAY.includes(answer.status));
  if (!answer.ok) throw await problemOf(answer, url);
  return answer;
}

async function content<T>(answer: Response): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const json = (answer.headers.get("Content-Type") ?? "").startsWith("application/json");
  return (await (json ? answer.json() : answer.text())) as T;
}

async function problemOf(answer: Response, url: string): Promise<Problem> {
  const text = (await answer.text().catch(() => "")).slice(0, MAX_TEXT);
  const wait = Number(answer.headers.get("Retry-After"));
  const scheme = answer.headers.get("WWW-Authenticate")?.split(" ")[0] ?? null;
  if (answer.status === 401 && !url.startsWith("/api/session")) refused();
  return new Problem(answer.status, text, wait > 0 ? wait : null, scheme);
}
