import { t } from "../i18n/translate";
import { toast } from "./Toast";

/** Whether pictures can be put on the clipboard: not without TLS, nor by older browsers. */
export function mayCopyPictures(): boolean {
  return Boolean(navigator.clipboard?.write) && typeof ClipboardItem !== "undefined";
}

/** Put a picture, a PNG, on the clipboard, and say so. */
export function copyPicture(png: Blob): void {
  navigator.clipboard.write([new ClipboardItem({ "image/png": png })]).then(
    () => toast(t("common.copied")),
    (problem: unknown) => toast(String(problem), "bad"),
  );
}

/** Put a text on the clipboard, and say so. */
export function copy(text: string): void {
  // There is no clipboard without TLS.
  const written = navigator.clipboard
    ? navigator.clipboard.writeText(text)
    : Promise.reject(new Error("no clipboard"));
  written.then(
    () => toast(t("common.copied")),
    () => toast(text, "bad"),
  );
}
