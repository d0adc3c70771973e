/** The sources that a map names. */

/** A piece of text, with the address that it leads to. */
export interface Credit {
  text: string;
  href?: string;
}

const HIDDEN = /<(script|style)\b.*?<\/\1\s*>/gis;
const TAG = /(<[^>]*>)/;
const HREF = /\shref\s*=\s*["']?(https?:\/\/[^"'\s>]+)/i;

/** Read the HTML in which tiles name their sources: texts and links, and nothing else of it. */
export function creditsOf(html: string): Credit[] {
  const found: Credit[] = [];
  let href: string | undefined;
  for (const piece of html.replaceAll(HIDDEN, "").split(TAG)) {
    if (TAG.test(piece)) {
      if (/^<\/?a\b/i.test(piece)) href = HREF.exec(piece)?.[1];
      continue;
    }
    const text = decoded(piece).replaceAll(/\s+/g, " ").trim();
    if (text) found.push(href ? { text, href } : { text });
  }
  return found;
}

/** A text without tags whose characters may be written as `&copy;`. */
function decoded(text: string): string {
  return new DOMParser().parseFromString(text, "text/html").body.textContent ?? "";
}
