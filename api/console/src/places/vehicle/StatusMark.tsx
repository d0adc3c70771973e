import { hasText, t } from "../../i18n/translate";

/** A status as color, shape and word. */
export function StatusMark({ status, moving = false }: { status: string; moving?: boolean }) {
  const key = `status.${status}`;
  const shown = status === "online" && moving ? "moving" : status;
  const word = shown === "moving" ? t("fleet.moving") : hasText(key) ? t(key) : status;
  return (
    <span class={`status ${shown}`}>
      <StatusShape status={shown} />
      {word}
    </span>
  );
}

/** Online a dot, moving a triangle, offline a square, unknown a ring. */
export function StatusShape({ status, label }: { status: string; label?: string }) {
  return (
    <svg
      class={`status-shape ${status}`}
      width={10}
      height={10}
      viewBox="0 0 10 10"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
    >
      {status === "moving" && <path d="M1 0.5L9.5 5L1 9.5z" />}
      {status === "online" && <circle cx={5} cy={5} r={4} />}
      {status === "offline" && <rect x={1} y={1} width={8} height={8} />}
      {status !== "moving" && status !== "online" && status !== "offline" && (
        <circle class="ring" cx={5} cy={5} r={3.5} />
      )}
    </svg>
  );
}
