/** A language made of English: accents on all letters, 40 % longer. What stays plain was not translated, or is a name in backticks. */

import type { Message } from "./translate";

const PLAIN = "aceginosuyzACEGINOSUYZ";
const ACCENTED = "áçéğíñóšúýžÁÇÉĞÍÑÓŠÚÝŽ";

/** All texts made up. */
export function madeUp<K extends string>(texts: Record<K, Message>): Record<K, Message> {
  return Object.fromEntries(
    Object.entries<Message>(texts).map(([key, message]) => [key, ofMessage(message)]),
  ) as Record<K, Message>;
}

function ofMessage(message: Message): Message {
  if (typeof message === "string") return ofText(message);
  return Object.fromEntries(Object.entries(message).map(([form, text]) => [form, ofText(text)])) as Message;
}

function ofText(text: string): string {
  const made = text.replace(/\{\w+\}|`[^`]*`|./gs, (piece) => {
    const index = piece.length === 1 ? PLAIN.indexOf(piece) : -1;
    return index < 0 ? piece : (ACCENTED[index] ?? piece);
  });
  const longer = "~".repeat(Math.max(1, Math.ceil(text.replace(/\{\w+\}/g, "").length * 0.4) - 2));
  return `⟦${made}${longer}⟧`;
}
