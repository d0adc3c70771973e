/** A text as searches compare it: without capitals and accents. */
export function plain(text: string): string {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}
