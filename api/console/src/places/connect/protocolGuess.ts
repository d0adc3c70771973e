/** Guesses the protocol of bytes that came to the port of another one. */

/** Begin of the first message of a connection, as text or in hex digits. */
const BEGINS: readonly [protocol: string, pattern: RegExp][] = [
  ["gt06", /^(7878|7979)[0-9a-f]+$/],
  ["jt808", /^7e[0-9a-f]{24,}$/],
  ["teltonika", /^(000f3\d|00000000)[0-9a-f]*$/],
  ["gps103", /^(##,)?imei:\d/],
  ["h02", /^\*[A-Z]{2},\d/],
  ["meitrack", /^\$\$[A-Za-z]\d+,\d{14,15},/],
  ["watch", /^\[[A-Z0-9]{2}\*\d+\*/],
  ["tk103", /^\(\d{10,}/],
  ["suntech", /^(ST\d{3,4}[A-Z]*|SA\d{3}[A-Z]*);/],
];

/** The name of the protocol, or null. */
export function guessProtocol(data: string): string | null {
  return BEGINS.find(([, pattern]) => pattern.test(data))?.[0] ?? null;
}

/** Whether bytes hold a number, as text or as packed decimals. */
export function containsNumber(data: string, number: string): boolean {
  const digits = number.trim().replace(/^0+(?=\d)/, "");
  if (!/^\d{6,}$/.test(digits)) return false;
  return data.includes(digits) || data.includes(hexOf(digits));
}

function hexOf(text: string): string {
  return [...text].map((character) => character.charCodeAt(0).toString(16)).join("");
}
