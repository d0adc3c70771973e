/** Records as the API answers them, with the values of a new one where a test says nothing else. */

import type {
  ChangeableSetting,
  Device,
  DeviceBinding,
  Geofence,
  ListedEvent,
  LoggedCommand,
  Position,
  Review,
  Server,
  Statistics,
  Ticket,
  User,
} from "../api/types";

export function userOf(fields: Partial<User> = {}): User {
  return {
    id: 1,
    name: "Admin",
    login: null,
    email: "admin@example.org",
    phone: null,
    readonly: false,
    administrator: true,
    map: null,
    latitude: 0,
    longitude: 0,
    zoom: 0,
    coordinateFormat: null,
    disabled: false,
    expirationTime: null,
    deviceLimit: -1,
    userLimit: 0,
    deviceReadonly: false,
    limitCommands: false,
    disableReports: false,
    fixedEmail: false,
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
    ...fields,
  };
}

/** A day of the server. */
export function statisticsOf(fields: Partial<Statistics> = {}): Statistics {
  return {
    id: 1,
    captureTime: "2026-05-01T21:59:59.999Z",
    activeUsers: 0,
    activeDevices: 0,
    requests: 0,
    messagesReceived: 0,
    messagesStored: 0,
    mailSent: 0,
    smsSent: 0,
    geocoderRequests: 0,
    geolocationRequests: 0,
    protocols: null,
    attributes: {},
    ...fields,
  };
}

/** A setting that the server lets change while it runs; a text that is unset, unless told otherwise. */
export function settingOf(name: string, fields: Partial<ChangeableSetting> = {}): ChangeableSetting {
  return {
    name,
    description: `What ${name} changes.`,
    type: "text",
    optional: true,
    value: null,
    default: null,
    unit: "",
    choices: [],
    minimum: null,
    maximum: null,
    secret: false,
    source: "default",
    changeable: true,
    variable: `MOTORPOOL_${name.toUpperCase()}`,
    ...fields,
  };
}

export function bindingOf(deviceId: number, fields: Partial<DeviceBinding> = {}): DeviceBinding {
  return { deviceId, protocol: null, since: null, registration: null, others: [], ...fields };
}

export function serverOf(fields: Partial<Server> = {}): Server {
  return {
    id: 1,
    registration: false,
    readonly: false,
    deviceReadonly: false,
    limitCommands: false,
    disableReports: false,
    fixedEmail: false,
    map: null,
    bingKey: null,
    mapUrl: null,
    overlayUrl: null,
    poiLayer: null,
    announcement: null,
    latitude: 0,
    longitude: 0,
    zoom: 0,
    forceSettings: false,
    coordinateFormat: null,
    attributes: {},
    version: "6.7",
    openIdEnabled: false,
    openIdForce: false,
    emailEnabled: false,
    textEnabled: false,
    geocoderEnabled: false,
    newServer: false,
    storageSpace: null,
    ...fields,
  };
}

export function deviceOf(id: number, fields: Partial<Device> = {}): Device {
  return {
    id,
    name: `Van ${id}`,
    uniqueId: `no${String(id).padStart(2, "0")}`,
    status: "unknown",
    lastUpdate: null,
    positionId: 0,
    groupId: 0,
    calendarId: 0,
    phone: null,
    model: null,
    contact: null,
    category: null,
    disabled: false,
    expirationTime: null,
    attributes: {},
    ...fields,
  };
}

/** What a device reports now, in Berlin. */
export function positionOf(deviceId: number, fields: Partial<Position> = {}): Position {
  const now = new Date().toISOString();
  return {
    id: deviceId,
    deviceId,
    protocol: "osmand",
    serverTime: now,
    deviceTime: now,
    fixTime: now,
    outdated: false,
    valid: true,
    latitude: 52.5,
    longitude: 13.4,
    altitude: 0,
    speed: 0,
    course: 0,
    address: null,
    accuracy: 0,
    network: null,
    geofenceIds: null,
    attributes: {},
    ...fields,
  };
}

export function eventOf(id: number, fields: Partial<ListedEvent> = {}): ListedEvent {
  return {
    id,
    type: "alarm",
    eventTime: new Date().toISOString(),
    deviceId: 0,
    positionId: 0,
    geofenceId: 0,
    maintenanceId: 0,
    place: null,
    driverUniqueId: null,
    picture: null,
    severity: null,
    review: null,
    attributes: {},
    ...fields,
  };
}

export function zoneOf(id: number, fields: Partial<Geofence> = {}): Geofence {
  return {
    id,
    name: `Zone ${id}`,
    description: "",
    area: "CIRCLE (52.5 13.4, 300)",
    calendarId: 0,
    attributes: {},
    ...fields,
  };
}

export function ticketOf(id: number, fields: Partial<Ticket> = {}): Ticket {
  const now = new Date().toISOString();
  return {
    id,
    number: id,
    uniqueId: `ticket${id}`,
    companyId: 0,
    branchId: 0,
    contactId: 0,
    deviceId: 0,
    categoryId: 0,
    priorityId: 0,
    statusId: 0,
    statusKind: "new",
    teamId: 0,
    assigneeId: 0,
    reporterId: 0,
    channel: "web",
    eventId: 0,
    positionId: 0,
    maintenanceId: 0,
    geofenceId: 0,
    parentId: 0,
    subject: "",
    description: "",
    createdAt: now,
    updatedAt: now,
    statusChangedAt: now,
    firstResponseAt: null,
    resolvedAt: null,
    closedAt: null,
    reopenedAt: null,
    lastContactAt: null,
    lastAgentAt: null,
    firstResponseDue: null,
    resolutionDue: null,
    firstResponseBreached: false,
    resolutionBreached: false,
    slaPaused: false,
    escalatedAt: null,
    reopenCount: 0,
    commentCount: 0,
    version: 1,
    attributes: {},
    ...fields,
  };
}

/** What nobody has reviewed yet. */
export const OPEN: Review = {
  state: "OPEN",
  note: null,
  userId: 0,
  userName: null,
  time: null,
  version: 1,
};

/** A command of the log that was handed to device 1. */
export function commandOf(id: number, fields: Partial<LoggedCommand> = {}): LoggedCommand {
  return {
    id,
    deviceId: 1,
    type: "engineStop",
    description: "",
    textChannel: false,
    attributes: {},
    origin: "USER",
    userId: 1,
    userName: "Admin",
    scheduledCommandId: 0,
    eventId: 0,
    ticketId: 0,
    time: "2026-06-15T11:00:00Z",
    state: "SENT",
    reason: null,
    sentAt: "2026-06-15T11:00:01Z",
    answer: null,
    answerOk: null,
    answerTime: null,
    ...fields,
  };
}
