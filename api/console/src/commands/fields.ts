/** What each type of command asks for (docs/commands.md, docs/protocols/jt808.md#commands). */

import type { Key } from "../i18n/translate";

/** A value that a command takes as an attribute. */
export interface CommandField {
  /** Name of the attribute. */
  name: string;
  label: Key;
  kind: "number" | "text" | "lines";
  required?: boolean;
  /** What the form begins with. */
  initial?: string;
  /** Of a number as it is entered. */
  min?: number;
  max?: number;
  /** The attribute is the number that is entered, times this. */
  times?: number;
  maxLength?: number;
  hint?: Key;
}

/** A type of command. */
export interface CommandKind {
  fields: readonly CommandField[];
  /** It stops a vehicle, or may cut the device off: the console asks before it is sent. */
  dangerous?: true;
}

const PLAIN: CommandKind = { fields: [] };
const DANGEROUS: CommandKind = { fields: [], dangerous: true };
const DATA: CommandField = { name: "data", label: "command.data", kind: "lines", maxLength: 4000 };

const KINDS: Record<string, CommandKind> = {
  positionSingle: PLAIN,
  positionPeriodic: {
    fields: [
      {
        name: "frequency",
        label: "command.frequency",
        kind: "number",
        required: true,
        initial: "30",
        min: 1,
        max: 65_535,
      },
      {
        name: "duration",
        label: "command.duration",
        kind: "number",
        min: 1,
        max: 4_294_967_295,
        hint: "command.durationHint",
      },
    ],
  },
  positionStop: PLAIN,
  engineStop: DANGEROUS,
  engineResume: DANGEROUS,
  rebootDevice: DANGEROUS,
  powerOff: DANGEROUS,
  factoryReset: DANGEROUS,
  getDeviceStatus: PLAIN,
  getVersion: PLAIN,
  deviceIdentification: PLAIN,
  requestPhoto: {
    fields: [
      {
        name: "channel",
        label: "command.camera",
        kind: "number",
        required: true,
        initial: "1",
        min: 1,
        max: 31,
      },
      { name: "count", label: "command.count", kind: "number", initial: "1", min: 1, max: 65_534 },
    ],
  },
  message: {
    fields: [
      {
        name: "message",
        label: "command.message",
        kind: "lines",
        required: true,
        maxLength: 1000,
        hint: "command.messageHint",
      },
    ],
  },
  setSpeedLimit: {
    fields: [{ name: "data", label: "command.speedLimit", kind: "number", required: true, min: 0, max: 255 }],
  },
  setOdometer: {
    fields: [
      {
        name: "data",
        label: "command.odometer",
        kind: "number",
        required: true,
        min: 0,
        max: 400_000_000,
        times: 1000,
      },
    ],
  },
  setConnection: {
    fields: [
      { name: "server", label: "command.server", kind: "text", required: true, maxLength: 255 },
      { name: "port", label: "command.port", kind: "number", required: true, min: 1, max: 65_535 },
    ],
    dangerous: true,
  },
  configuration: { fields: [{ ...DATA, label: "command.parameters", hint: "command.parametersHint" }] },
  custom: { fields: [{ ...DATA, required: true, hint: "command.dataHint" }] },
};

/** Types whose place is elsewhere: the cameras of a vehicle have places of their own. */
const ELSEWHERE = /^video/;

/** What a type asks for; of one that the page does not know only the text that most take. */
export function kindOf(type: string): CommandKind {
  return KINDS[type] ?? { fields: [DATA] };
}

/** The types that are offered, in the order of the table; unknown ones last, by name. */
export function offered(types: readonly string[]): readonly string[] {
  const order = Object.keys(KINDS);
  const rank = (type: string) => (order.includes(type) ? order.indexOf(type) : order.length);
  return types
    .filter((type) => !ELSEWHERE.test(type))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Why what was entered cannot be sent, by the name of the field. */
export type Refusals = Record<string, Key>;

/** The attributes of what was entered, or what is wrong with it. Empty fields are left out. */
export function attributesOf(
  kind: CommandKind,
  entered: Record<string, string>,
): { attributes: Record<string, string | number>; refusals: Refusals } {
  const attributes: Record<string, string | number> = {};
  const refusals: Refusals = {};
  for (const field of kind.fields) {
    const text = (entered[field.name] ?? "").trim();
    if (text === "") {
      if (field.required) refusals[field.name] = "command.needed";
      continue;
    }
    if (field.kind !== "number") {
      attributes[field.name] = text;
      continue;
    }
    const number = Number(text);
    const { min = 0, max = Number.MAX_SAFE_INTEGER, times = 1 } = field;
    const whole = Math.round(number * times);
    // Digits after the point count only where the unit of the attribute is smaller.
    if (!(number >= min && number <= max) || (times === 1 && whole !== number)) {
      refusals[field.name] = "command.notInRange";
    } else attributes[field.name] = whole;
  }
  return { attributes, refusals };
}
