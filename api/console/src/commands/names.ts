import type { Command } from "../api/types";
import { hasText, t } from "../i18n/translate";

/** What a type of command is called; an unknown one by itself. */
export function typeName(type: string): string {
  const key = `command.type.${type}`;
  return hasText(key) ? t(key) : type;
}

/** What a saved command is called: its description, else its type. */
export function savedName({ description, type }: Pick<Command, "description" | "type">): string {
  return description?.trim() || typeName(type);
}
