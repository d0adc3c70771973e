import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import type { TileId } from "../tiles";
import { beginSpeaking, endSpeaking, talk } from "./talk";

/** Speaks while it is held, by mouse, finger, or Enter or Space. */
export function TalkButton({ tile }: { tile: TileId }) {
  const is = talk.value;
  const here = is?.deviceId === tile.deviceId && is.camera === tile.camera;
  const speaking = here && is.speaking;
  const label = t("talk.hold");
  const pressed = (event: TargetedPointerEvent<HTMLButtonElement>) => {
    if (event.button !== 0) return;
    // What is released beside the button is released as well.
    event.currentTarget.setPointerCapture(event.pointerId);
    beginSpeaking(tile);
  };
  const keyed = (event: TargetedKeyboardEvent<HTMLButtonElement>) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (!event.repeat) beginSpeaking(tile);
  };
  return (
    <button
      type="button"
      class="icon-button talk-button"
      aria-label={label}
      title={label}
      aria-pressed={speaking}
      draggable
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onContextMenu={(event) => event.preventDefault()}
      onPointerDown={pressed}
      onPointerUp={endSpeaking}
      onPointerCancel={endSpeaking}
      onKeyDown={keyed}
      onKeyUp={endSpeaking}
      onBlur={endSpeaking}
    >
      <Icon name="microphone" size={18} />
    </button>
  );
}
