import { t } from "../i18n/translate";
import { toast } from "./Toast";

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
