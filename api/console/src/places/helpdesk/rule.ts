/** A ticket rule as forms have it, and in words (docs/ticket-rules.md). Pure, but for the texts. */

import type { RuleAction, RuleCapture, RuleCondition, TicketRule } from "../../api/types";
import { kindName, kindsOf, parametersOf } from "../events/kinds";

type Filled<T> = { [Field in keyof T]-?: NonNullable<T[Field]> };

/** A rule as companies keep it, with all its fields. */
export interface Rule extends Filled<Omit<TicketRule, "when" | "then" | "capture">> {
  when: Filled<Omit<RuleCondition, "severity">> & { severity: (typeof SEVERITIES)[number] | null };
  then: Filled<RuleAction>;
  capture: Filled<RuleCapture> | null;
}

export const SEVERITIES = ["INFO", "WARNING", "CRITICAL"] as const;

/** What a new rule begins with: SOS alarms. */
export function newRule(): Rule {
  return withDefaults({ when: { eventTypes: ["alarm"], alarms: ["sos"] } });
}

interface Given {
  when?: Partial<Rule["when"]>;
  then?: Partial<Rule["then"]>;
}

/** A rule whose absent fields are as the server takes them. */
export function withDefaults(given: Given & Partial<Omit<Rule, "when" | "then">>): Rule {
  const { when, then, ...rest } = given;
  return {
    name: "",
    dedupeMinutes: 60,
    maxPerHour: 20,
    commentWhenOver: false,
    capture: null,
    disabled: false,
    id: "",
    userId: 0,
    ...rest,
    when: {
      eventTypes: [],
      alarms: [],
      severity: null,
      deviceIds: [],
      groupIds: [],
      geofenceIds: [],
      maintenanceIds: [],
      calendarId: 0,
      ...when,
    },
    // biome-ignore lint/suspicious/noThenProperty: the API calls it so; it is an object, and no function
    then: { categoryId: 0, priorityId: 0, teamId: 0, subject: "", ...then },
  } as Rule;
}

/** The rules of the attributes of a company. */
export function rulesOf(attributes: { [name: string]: unknown }): readonly Rule[] {
  const found = attributes.ticketRules;
  return Array.isArray(found) ? found.map((each) => withDefaults(each as Given)) : [];
}

/** The kinds of events that a rule is about: types, and alarms as `alarm:sos`. */
export function ruleKinds({ when }: Rule): readonly string[] {
  return kindsOf([...when.eventTypes], [...when.alarms]);
}

/** The rule about other kinds. */
export function withKinds(rule: Rule, kinds: readonly string[]): Rule {
  const { type, alarm } = parametersOf(kinds);
  return { ...rule, when: { ...rule.when, eventTypes: type, alarms: alarm } };
}

/** The rule whose tickets begin otherwise. */
export function withTicket(rule: Rule, change: Partial<Rule["then"]>): Rule {
  // biome-ignore lint/suspicious/noThenProperty: as above
  return { ...rule, then: { ...rule.then, ...change } };
}

/** Whether it names certain alarms and other events as well: of these, none has such an alarm. */
export function mixesAlarms({ when }: Rule): boolean {
  return when.alarms.length > 0 && when.eventTypes.some((type) => type !== "alarm");
}

/** What the events of a rule are called. */
export function kindsText(rule: Rule, language: string): string {
  return new Intl.ListFormat(language, { type: "disjunction" }).format(ruleKinds(rule).map(kindName));
}

/** The rules with one of them changed, added or removed; others that were changed meanwhile stay. */
export function withRule(rules: readonly Rule[], rule: Rule): readonly Rule[] {
  if (!rule.id) return [...rules, rule];
  const isThere = rules.some(({ id }) => id === rule.id);
  return isThere ? rules.map((each) => (each.id === rule.id ? rule : each)) : [...rules, rule];
}

/** The name of a field in a refusal of a rule: `when.eventTypes` of `attributes.ticketRules[3].when.eventTypes`. */
export function fieldOfRule(key: string): string {
  return key.replace(/^(attributes\.ticketRules\[\d+\]|rule)\.?/, "");
}
