import { renderSVG } from "uqr";

/** A text as a QR code, dark on white in both themes as scanners want it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const picture = `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: 4 }))}`;
  return <img class="qr-code" src={picture} alt={label} width={200} height={200} />;
}
