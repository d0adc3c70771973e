import type { Event } from "../../../api/types";

/** What happened, by the words of the API. */
export function eventName({ type, attributes }: Event): string {
  const words = (text: string) => {
    const spaced = text.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    return spaced.charAt(0).toUpperCase() + spaced.slice(1);
  };
  return type === "alarm" && typeof attributes.alarm === "string" ? words(attributes.alarm) : words(type);
}
