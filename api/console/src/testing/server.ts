/** The server at the edge of the page: it answers requests and speaks on sockets, with the JSON of the API. */

import type { Message } from "../api/socket";
import type { Answers, Device, Event, Geofence, Paths, Position, User } from "../api/types";
import { bindingOf, serverOf, userOf } from "./records";

/** What a request asked for. */
export interface Asked {
  method: string;
  path: string;
  /** What stands for `{id}` and the like in the path. */
  ids: readonly number[];
  query: URLSearchParams;
  /** JSON as it was sent, a form as its fields. */
  body: unknown;
  headers: Headers;
}

type Operation = keyof Paths;
type Answer<O extends Operation> = O extends keyof Answers ? Answers[O] : string | null;
type Answerer<O extends Operation> = (asked: Asked) => Answer<O> | Response | Promise<Answer<O> | Response>;

/** The paths that the tests use; the compiler compares them with the paths of the API. */
const PATHS = {
  createDriverAssignment: "POST /driverassignments",
  deleteDriverAssignment: "DELETE /driverassignments/{id}",
  deletePositions: "DELETE /positions",
  deleteTicket: "DELETE /tickets/{id}",
  getDriverAssignment: "GET /driverassignments/{id}",
  listDriverAssignments: "GET /driverassignments",
  saveDeviceImage: "POST /devices/{id}/image",
  setAccumulators: "PUT /devices/{id}/accumulators",
  updateDriverAssignment: "PUT /driverassignments/{id}",
  createScheduledCommand: "POST /scheduledcommands",
  deleteScheduledCommand: "DELETE /scheduledcommands/{id}",
  getCalendar: "GET /calendars/{id}",
  getScheduledCommand: "GET /scheduledcommands/{id}",
  listScheduledCommandRuns: "GET /scheduledcommands/{id}/runs",
  listScheduledCommands: "GET /scheduledcommands",
  runScheduledCommand: "POST /scheduledcommands/{id}/run",
  updateScheduledCommand: "PUT /scheduledcommands/{id}",
  listDueMaintenance: "GET /maintenance/due",
  createNotification: "POST /notifications",
  deleteNotification: "DELETE /notifications/{id}",
  getNotification: "GET /notifications/{id}",
  listCommands: "GET /commands",
  listNotificationTypes: "GET /notifications/types",
  previewNotification: "POST /notifications/preview",
  testNotificator: "POST /notifications/test/{notificator}",
  tryNotification: "POST /notifications/trial",
  updateNotification: "PUT /notifications/{id}",
  addTeamMember: "PUT /teams/{id}/members/{userId}",
  createBranch: "POST /branches",
  createPermissions: "POST /permissions/bulk",
  deletePermissions: "DELETE /permissions/bulk",
  getGroup: "GET /groups/{id}",
  impersonate: "GET /session/{id}",
  inviteUser: "POST /users/{id}/invitation",
  listActivity: "GET /users/activity",
  listInheritedPermissions: "GET /permissions/inherited",
  updateGroup: "PUT /groups/{id}",
  createCalendar: "POST /calendars",
  createCompany: "POST /companies",
  createPermission: "POST /permissions",
  createTeam: "POST /teams",
  deletePermission: "DELETE /permissions",
  createTicketDefaults: "POST /tickets/defaults",
  getCompany: "GET /companies/{id}",
  listCompanyRoles: "GET /companies/roles",
  listCompanyUsers: "GET /companies/{id}/users",
  listBranches: "GET /branches",
  listTeams: "GET /teams",
  listTicketCategories: "GET /ticketcategories",
  listTicketPriorities: "GET /ticketpriorities",
  listTicketStatuses: "GET /ticketstatuses",
  listWindows: "POST /calendars/windows",
  removeTeamMember: "DELETE /teams/{id}/members/{userId}",
  updateCompany: "PUT /companies/{id}",
  getTicketCategory: "GET /ticketcategories/{id}",
  getTicketStatus: "GET /ticketstatuses/{id}",
  listWebhookDeliveries: "GET /companies/{id}/webhook/deliveries",
  testWebhook: "POST /companies/{id}/webhook/test",
  tryTicketRule: "POST /companies/{id}/ticketrules/trial",
  updateTicketCategory: "PUT /ticketcategories/{id}",
  updateTicketStatus: "PUT /ticketstatuses/{id}",
  updateTicketPriority: "PUT /ticketpriorities/{id}",
  cancelQueuedCommand: "DELETE /commands/queue/{id}",
  createDevice: "POST /devices",
  createGeofence: "POST /geofences",
  createSession: "POST /session",
  createTicket: "POST /tickets",
  createTotpSecret: "POST /users/totp",
  createUser: "POST /users",
  deleteDevice: "DELETE /devices/{id}",
  changeMedia: "PUT /media/{uniqueId}/{file}",
  deleteGeofence: "DELETE /geofences/{id}",
  deleteMedia: "DELETE /media/{uniqueId}/{file}",
  listEvidence: "GET /events/{id}/evidence",
  deleteSession: "DELETE /session",
  endOtherSessions: "DELETE /sessions",
  explainDeviceMessage: "POST /devices/{id}/messages/explain",
  findPlaces: "GET /places",
  getDevice: "GET /devices/{id}",
  getDeviceBinding: "GET /devices/{id}/binding",
  getEvent: "GET /events/{id}",
  getGeofence: "GET /geofences/{id}",
  getLivePlaylist: "GET /stream/{deviceId}/{channel}/live.m3u8",
  getServer: "GET /server",
  getServerSettings: "GET /server/settings",
  listActors: "GET /server/actors",
  getStatus: "GET /server/status",
  getStorage: "GET /server/storage",
  listAudit: "GET /audit",
  prepareBackup: "POST /server/backup",
  listSigningKeys: "GET /server/signingkeys",
  rotateSigningKeys: "POST /server/signingkeys",
  rebootServer: "POST /server/reboot",
  updateServer: "PUT /server",
  sendAnnouncement: "POST /notifications/send/{notificator}",
  getCache: "GET /server/cache",
  collectGarbage: "GET /server/gc",
  listStatistics: "GET /statistics",
  getSession: "GET /session",
  getUser: "GET /users/{id}",
  listCaptures: "GET /captures",
  listCommandTypes: "GET /commands/types",
  commentTicket: "POST /tickets/{id}/comments",
  getContact: "GET /contacts/{id}",
  getTicketStatistics: "GET /tickets/stats",
  listTicketServiceLevels: "GET /tickets/sla",
  getTicket: "GET /tickets/{id}",
  listCompanies: "GET /companies",
  listTicketEvents: "GET /tickets/{id}/events",
  listTickets: "GET /tickets",
  transitionTicket: "POST /tickets/{id}/transition",
  putTicketPresence: "PUT /tickets/{id}/presence",
  updateTicket: "PUT /tickets/{id}",
  listDevicePlaces: "GET /devices/places",
  listDevices: "GET /devices",
  listEvents: "GET /events",
  listFootageRequests: "GET /footagerequests",
  listGeofences: "GET /geofences",
  listGroups: "GET /groups",
  listMotions: "GET /devices/motion",
  listLoggedCommands: "GET /commands/log",
  listMedia: "GET /media",
  listNotifications: "GET /notifications",
  listCalendars: "GET /calendars",
  listFailingReceivers: "GET /notifications/failing",
  listNotificators: "GET /notifications/notificators",
  listPermissions: "GET /permissions",
  listPositions: "GET /positions",
  listProtocols: "GET /server/protocols",
  listQueuedCommands: "GET /commands/queue",
  listSendableCommands: "GET /commands/send",
  listSessions: "GET /sessions",
  getTripsReport: "GET /reports/trips",
  getOverview: "GET /reports/overview",
  getPresenceReport: "GET /reports/presence",
  getSummaryReport: "GET /reports/summary",
  listScheduledReports: "GET /reports",
  createScheduledReport: "POST /reports",
  listShares: "GET /shares",
  listTimezones: "GET /server/timezones",
  listTokens: "GET /tokens",
  listUsers: "GET /users",
  changeServerSettings: "PUT /server/settings",
  listDrivers: "GET /drivers",
  reviewEvent: "PUT /events/{id}/review",
  beginOpenidByScript: "POST /session/openid/auth",
  logInByToken: "POST /session/token/login",
  sendCommand: "POST /commands/send",
  setDeviceBinding: "PUT /devices/{id}/binding",
  importDevices: "POST /devices/import",
  listComputedAttributes: "GET /attributes/computed",
  testComputedAttribute: "POST /attributes/computed/test",
  listMaintenances: "GET /maintenance",
  getMaintenance: "GET /maintenance/{id}",
  updateMaintenance: "PUT /maintenance/{id}",
  updateDevice: "PUT /devices/{id}",
  updateGeofence: "PUT /geofences/{id}",
  testServerSettings: "POST /server/settings/test/{section}",
  updateUser: "PUT /users/{id}",
} as const satisfies Partial<Paths>;
type Known = keyof typeof PATHS;

/** What is empty until a test says something else. */
const LISTS = [
  "listDriverAssignments",
  "listDueMaintenance",
  "listBranches",
  "listCompanyRoles",
  "listCompanyUsers",
  "listTeams",
  "listTicketCategories",
  "listTicketPriorities",
  "listTicketStatuses",
  "findPlaces",
  "listCalendars",
  "listCaptures",
  "listCommandTypes",
  "listCompanies",
  "listTicketEvents",
  "listTicketServiceLevels",
  "listTickets",
  "putTicketPresence",
  "listDevicePlaces",
  "listEvents",
  "listEvidence",
  "listFootageRequests",
  "listGroups",
  "listLoggedCommands",
  "listMotions",
  "listNotifications",
  "listFailingReceivers",
  "listNotificators",
  "listPermissions",
  "listPositions",
  "listQueuedCommands",
  "listSendableCommands",
  "listSessions",
  "listShares",
  "listTimezones",
  "listTokens",
  "listUsers",
  "listDrivers",
  "listFootageRequests",
] as const satisfies Known[];

/** A refusal, with what the server says for people. */
export function refusal(status: number, text = "", headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers });
}

/** A JSON answer with headers of its own. */
export function answerOf<O extends keyof Answers>(
  value: Answers[O],
  headers: Record<string, string>,
): Response {
  return Response.json(value, { headers });
}

/** A server with an administrator who is logged in. What a test needs beyond that it says by `answer`. */
export class FakeServer {
  /** Who is logged in, or null. */
  user: User | null = userOf();
  devices: Device[] = [];
  positions: Position[] = [];
  zones: Geofence[] = [];
  /** What the map shows, as the server tells without a login. */
  map = { layers: [] as object[], hosts: ["https://tiles.openfreemap.org"], shareTiles: false };
  /** Whether it can be reached. */
  isUp = true;
  /** What could not be answered, and errors of the page: a test that leaves some fails. */
  readonly complaints: string[] = [];
  readonly #asked: { operation: Known; asked: Asked }[] = [];
  readonly #answers = new Map<Known, (asked: Asked) => unknown>();
  readonly #sockets = new Set<FakeSocket>();

  constructor() {
    this.answer("getServer", serverOf());
    this.answer("getSession", () => this.user ?? refusal(404));
    this.answer("getUser", () => this.user ?? refusal(404));
    this.answer("updateUser", ({ body }) => {
      this.user = body as User;
      return this.user;
    });
    this.answer("listDevices", () => this.devices);
    this.answer("getDevice", ({ ids }) => this.devices.find(({ id }) => id === ids[0]) ?? refusal(404));
    this.answer("getDeviceBinding", ({ ids }) => bindingOf(ids[0] ?? 0));
    this.answer("listGeofences", () => this.zones);
    this.answer("getGeofence", ({ ids }) => this.zones.find(({ id }) => id === ids[0]) ?? refusal(404));
    this.answer("getCompany", ({ ids }) => ({
      id: ids[0] ?? 0,
      name: "North",
      uniqueId: null,
      disabled: false,
      attributes: {},
    }));
    for (const each of LISTS) this.answer(each, []);
  }

  /** Answer an operation with a value, or with what a function gives. */
  answer<O extends Known>(operation: O, given: Answer<O> | Response | Answerer<O>): void {
    this.#answers.set(operation, typeof given === "function" ? (given as Answerer<O>) : () => given);
  }

  /** The requests of an operation, the first one first. */
  asked(operation: Known): readonly Asked[] {
    return this.#asked.filter((each) => each.operation === operation).map(({ asked }) => asked);
  }

  /** The requests that were to change something. */
  changes(): readonly Asked[] {
    return this.#asked.map(({ asked }) => asked).filter(({ method }) => method !== "GET");
  }

  /** Say something on each open socket. */
  push(message: Message): void {
    for (const each of this.#sockets) each.onmessage?.({ data: JSON.stringify(message) });
  }

  /** A device, as it changed, or a new one; the page is told. */
  saveDevice(device: Device): void {
    this.devices = [...this.devices.filter(({ id }) => id !== device.id), device];
    this.push({ devices: [device] });
  }

  /** A position that arrives, by which the device is online. */
  report(position: Position): void {
    this.positions = [...this.positions.filter((each) => each.deviceId !== position.deviceId), position];
    const device = this.devices.find(({ id }) => id === position.deviceId);
    if (device) this.saveDevice({ ...device, status: "online", lastUpdate: position.serverTime });
    this.push({ positions: [position] });
  }

  /** An event that arrives. */
  happen(event: Event): void {
    this.push({ events: [event] });
  }

  /** End all connections. */
  drop(): void {
    for (const each of this.#sockets) each.lose();
    this.#sockets.clear();
  }

  /** What the page sent on its sockets. */
  readonly said: unknown[] = [];

  connect(socket: FakeSocket): void {
    if (!this.isUp || !this.user) {
      socket.lose();
      return;
    }
    this.#sockets.add(socket);
    socket.open();
    this.push({ devices: this.devices, positions: this.positions });
  }

  disconnect(socket: FakeSocket): void {
    this.#sockets.delete(socket);
  }

  /** In place of `window.fetch`. */
  async fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(String(input), window.location.origin);
    const method = init.method ?? "GET";
    const signal = init.signal;
    if (!this.isUp) throw new TypeError("fetch failed");
    if (url.pathname.endsWith("/map.json")) return Response.json(this.map);
    for (const [operation, pattern] of Object.entries(PATHS)) {
      const ids = idsOf(pattern, `${method} ${url.pathname.slice("/api".length)}`);
      const answer = ids && this.#answers.get(operation as Known);
      if (!ids || !answer) continue;
      const asked: Asked = {
        method,
        path: url.pathname,
        ids,
        query: url.searchParams,
        body: bodyOf(init.body),
        headers: new Headers(init.headers),
      };
      this.#asked.push({ operation: operation as Known, asked });
      const given = await answer(asked);
      if (signal?.aborted) throw signal.reason;
      // It may be asked for again.
      if (given instanceof Response) return given.clone();
      if (given === null) return new Response(null, { status: 204 });
      return typeof given === "string" ? new Response(given) : Response.json(given);
    }
    this.complaints.push(`${method} ${url.pathname}${url.search} is not answered`);
    return refusal(501);
  }
}

/** The numbers in the places of `{…}` in a path, or null for another path. */
function idsOf(pattern: string, text: string): readonly number[] | null {
  const found = new RegExp(
    `^${pattern
      .replace(/\{(notificator|section)\}/g, "\\w+")
      .replace(/\{(uniqueId|file)\}/g, "[^/]+")
      .replace(/\{\w+\}/g, "(\\d+)")}$`,
  ).exec(text);
  return found?.slice(1).map(Number) ?? null;
}

function bodyOf(body: RequestInit["body"]): unknown {
  if (body instanceof URLSearchParams) return Object.fromEntries(body);
  return typeof body === "string" ? JSON.parse(body) : body;
}

/** In place of `WebSocket`. */
export class FakeSocket {
  static readonly OPEN = 1;
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly #server: FakeServer;

  constructor(server: FakeServer) {
    this.#server = server;
    queueMicrotask(() => server.connect(this));
  }

  open(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }

  lose(): void {
    this.readyState = 3;
    this.onclose?.();
  }

  send(text: string): void {
    this.#server.said.push(JSON.parse(text));
  }

  close(): void {
    this.#server.disconnect(this);
    this.readyState = 3;
  }
}
