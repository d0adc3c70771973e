/** What is known of trackers beside what the server says of their protocols (docs/console.md#connect-a-tracker). */

import type { Protocol } from "../../api/types";
import { compareNames, type Key, t } from "../../i18n/translate";

/** What a tracker calls itself. */
export type NumberKind = "imei" | "phone" | "id";

interface Known {
  title: string;
  /** Makes and models that speak it, as people search for them. */
  models: string;
  /** What it is used for, where the models do not say so. */
  note?: Key;
  number: NumberKind;
  /** The text message that sets the server, with the password that the tracker comes with. */
  message?: (host: string, port: number) => string;
}

const KNOWN: Record<string, Known> = {
  gl200: { title: "Queclink", models: "GL200, GL300, GL500, GV55, GV200, GV300, GV500", number: "imei" },
  gps103: {
    title: "GPS103",
    models: "Coban GPS103, GPS303, TK303 · Xexun TK102, TK103",
    number: "imei",
    message: (host, port) => `adminip123456 ${host} ${port}`,
  },
  gt06: {
    title: "GT06",
    models: "Concox GT06N, GT06E, GV20 · Jimi · Wanway · Seeworld",
    number: "imei",
    message: (host, port) => `SERVER,${isAddress(host) ? 0 : 1},${host},${port},0#`,
  },
  h02: {
    title: "H02",
    models: "SinoTrack ST-901, ST-906 · TK-905, TK-915",
    number: "id",
    message: (host, port) => `8040000 ${host} ${port}`,
  },
  jt808: {
    title: "JT/T 808",
    models: "JT/T 1078 · MDVR",
    note: "connect.note.jt808",
    number: "phone",
  },
  meitrack: { title: "Meitrack", models: "MVT, MT90, T1, T3, T333, T366, TC68, MD", number: "imei" },
  osmand: {
    title: "OsmAnd",
    models: "OsmAnd · Traccar Client · GPSLogger",
    note: "connect.note.phone",
    number: "id",
  },
  owntracks: { title: "OwnTracks", models: "OwnTracks", note: "connect.note.phone", number: "id" },
  ruptela: { title: "Ruptela", models: "FM-Eco4, FM-Pro4, FM-Tco4, HCV5, LCV5, Plug5", number: "imei" },
  suntech: { title: "Suntech", models: "ST300, ST340, ST600, ST910, ST4300", number: "id" },
  teltonika: {
    title: "Teltonika",
    models: "FMB, FMC, FMM, FMT, FMU, GH, MTB, TAT, TMT",
    number: "imei",
    // Without login and password two spaces stand before the command.
    message: (host, port) => `  setparam 2004:${host};2005:${port};2006:0`,
  },
  tk103: { title: "TK103", models: "TK103, TK106", number: "id" },
  watch: {
    title: "Watch",
    models: "SeTracker, 3G, Q50, Q90, GW100",
    note: "connect.note.watch",
    number: "id",
    message: (host, port) => `pw,123456,ip,${host},${port}#`,
  },
};

/** A protocol that this server listens for. */
export interface Tracker {
  name: string;
  title: string;
  models: string;
  /** Those whose messages differ from the others', so that the server has to know them. */
  dialects: readonly string[];
  note: Key | null;
  number: NumberKind;
  port: number;
  /** What is spoken to the port, such as `TCP`. */
  transport: string;
  /** Where an app sends its requests; null for what needs host and port. */
  url: string | null;
  message: string | null;
}

/** The protocols that the server listens for, by title; `page` is the host of the page, for servers without a public one. */
export function trackersOf(protocols: readonly Protocol[], page: string): readonly Tracker[] {
  return protocols
    .filter((each) => each.enabled)
    .map(({ name, port, transport, udp, identity, host, models }) => {
      const known = KNOWN[name];
      const at = host ?? page;
      return {
        name,
        title: known?.title ?? name,
        models: known?.models ?? "",
        dialects: models,
        note: known?.note ?? null,
        number: known?.number ?? (identity === "phone" ? "phone" : "id"),
        port,
        transport: transport === "http" ? "HTTP" : udp ? "TCP, UDP" : "TCP",
        url: transport === "http" ? `http://${at.includes(":") ? `[${at}]` : at}:${port}/` : null,
        message: known?.message?.(at, port) ?? null,
      };
    })
    .sort((one, other) => compareNames(one.title, other.title));
}

/** The trackers whose title, name, models or note hold all words. */
export function searched(trackers: readonly Tracker[], text: string): readonly Tracker[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return trackers.filter(({ title, name, models, dialects, note }) => {
    const known = `${title} ${name} ${models} ${dialects.join(" ")} ${note ? t(note) : ""}`.toLowerCase();
    return words.every((word) => known.includes(word));
  });
}

/** Whether a host is an address instead of a name. */
export function isAddress(host: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(":");
}

/** Whether trackers on the networks of telephones cannot reach a host (RFC 1918, RFC 6761, RFC 6762). */
export function isPrivate(host: string): boolean {
  if (host === "localhost" || host === "::1" || /\.(local|localhost)$/.test(host)) return true;
  return isAddress(host) && /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(host);
}
