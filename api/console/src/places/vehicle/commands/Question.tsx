import { useEffect, useRef } from "preact/hooks";
import { duration } from "../../../format/times";
import { speed } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { device, position } from "../../../state/fleet";
import { style } from "../../../state/session";
import { now } from "../../../time/clock";
import { StatusMark } from "../StatusMark";

/** Knots; 5 km/h. */
const SLOW = 5 / 1.852;
/** A speed is said to be of the past when it is older than this. */
const RECENT_MS = 60_000;

interface QuestionProps {
  id: number;
  name: string;
  command: string;
  onCancel: () => void;
  onSend: () => void;
}

/** Asks before a dangerous command. Unless the vehicle is known to stand, Enter cancels. */
export function Question({ id, name, command, onCancel, onSend }: QuestionProps) {
  const found = device(id).value;
  const at = position(id).value;
  const safe = at !== undefined && at.speed <= SLOW;
  const cancel = useRef<HTMLButtonElement>(null);
  const send = useRef<HTMLButtonElement>(null);
  useEffect(() => (safe ? send : cancel).current?.focus(), []);
  // An Enter for a vehicle that stood must not stop one that has begun to drive. It does not go back by itself: by
  // then an Enter may be meant to cancel.
  useEffect(() => {
    if (!safe) cancel.current?.focus();
  }, [safe]);
  const age = at ? now.value - Date.parse(at.fixTime) : 0;
  const values = { name, speed: at ? speed(at.speed, style.value) : "" };
  const moving = found?.status === "online" && age < RECENT_MS;
  return (
    <Dialog
      title={t("command.ask", { command })}
      onClose={onCancel}
      actions={
        <>
          <button ref={cancel} type="button" onClick={onCancel} onKeyDown={ignoreRepeats}>
            {t("common.cancel")}
          </button>
          <button ref={send} type="button" class="dangerous" onClick={onSend} onKeyDown={ignoreRepeats}>
            {command}
          </button>
        </>
      }
    >
      <p>
        <strong>{name}</strong> {found && <StatusMark of={found} at={at} />}
      </p>
      <p class={safe ? "" : "command-fast"}>
        {t(
          !at
            ? "command.askNowhere"
            : safe
              ? "command.askSlow"
              : moving
                ? "command.askMoving"
                : "command.askFast",
          values,
        )}{" "}
        {at && age >= RECENT_MS && t("command.askAge", { span: duration(age, style.value) })}
      </p>
    </Dialog>
  );
}

/** A key that is held down since the choice must not answer the question. */
function ignoreRepeats(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}
