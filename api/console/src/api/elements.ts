/** The elements of a JSON array whose text arrives in pieces. Pure. */

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

export class ElementReader<T> {
  readonly #decoder = new TextDecoder();
  /** What was not parsed yet; it begins with an element, or with a comma before one. */
  #text = "";
  /** Up to where `#text` was looked at. */
  #at = 0;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #isEnded = false;

  /** Whether the array has ended. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Take the next bytes; return the elements that they complete. */
  add(bytes: Uint8Array): readonly T[] {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    const whole = this.#scan();
    if (whole <= 0) return [];
    const found = this.#text.slice(0, whole).replace(/^\s*[[,]/, "");
    this.#text = this.#text.slice(whole);
    this.#at -= whole;
    return found.trim() === "" ? [] : (JSON.parse(`[${found}]`) as T[]);
  }

  /** Go on to the end of the text; return where the last complete element ends. */
  #scan(): number {
    const text = this.#text;
    let whole = 0;
    for (; this.#at < text.length && !this.#isEnded; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isText = false;
      } else if (code === QUOTE) this.#isText = true;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#depth++;
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        this.#depth--;
        if (this.#depth === 0) {
          this.#isEnded = true;
          whole = this.#at;
        }
      } else if (code === COMMA && this.#depth === 1) whole = this.#at;
    }
    return whole;
  }
}
