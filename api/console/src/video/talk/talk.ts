/**
 * Talking to a driver (docs/video.md#talk): one at a time. The line is open from the first press until it is ended; what
 * the microphone hears is sent while a button or key is held, and the vehicle is heard all the time.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { address, get } from "../../api/call";
import type { CommandType } from "../../api/types";
import { t } from "../../i18n/translate";
import { device } from "../../state/fleet";
import { may } from "../../state/session";
import type { TileId } from "../tiles";
import worklet from "./worklet?worker&url";

export interface Talk extends TileId {
  phase: "connecting" | "open" | "ended";
  /** A button or key is held. */
  speaking: boolean;
  /** Why it has ended, unless the user has ended it. */
  problem: string;
}

const state = signal<Talk | null>(null);
/** The talk that there is, or the last one until its words are put away. */
export const talk: ReadonlySignal<Talk | null> = state;
/** 0 to 1: how loud the user is, and the vehicle. */
export const level = signal({ said: 0, heard: 0 });

let line: Line | null = null;

/** Speak from now on, on a line that is opened if there is none to this camera. */
export function beginSpeaking(tile: TileId): void {
  const is = state.value;
  if (!is || is.phase === "ended" || is.deviceId !== tile.deviceId || is.camera !== tile.camera) {
    endTalk();
    state.value = { ...tile, phase: "connecting", speaking: true, problem: "" };
    line = new Line(tile);
    void line.open();
  } else state.value = { ...is, speaking: true };
}

/** Speak no longer; the vehicle is still heard. */
export function endSpeaking(): void {
  if (state.value?.speaking) state.value = { ...state.value, speaking: false };
}

/** End the talk, and put its words away. */
export function endTalk(): void {
  line?.close();
  line = null;
  state.value = null;
  level.value = { said: 0, heard: 0 };
}

/** Speak while the key of this event is held; false where the user cannot talk to this vehicle. */
export function speakByKey(tile: TileId, { key, repeat }: KeyboardEvent): boolean {
  if (!canTalk(tile.deviceId)) return false;
  if (repeat) return true;
  beginSpeaking(tile);
  const released = (event: Event) => {
    if (event instanceof KeyboardEvent && event.key.toLowerCase() !== key.toLowerCase()) return;
    endSpeaking();
    document.removeEventListener("keyup", released);
    window.removeEventListener("blur", released);
  };
  document.addEventListener("keyup", released);
  // The key may be released in another window.
  window.addEventListener("blur", released);
  return true;
}

const talkable = new Map<number, Signal<boolean>>();

/** Whether the user may talk to the driver of a vehicle that is online, and its device can. */
export function canTalk(deviceId: number): boolean {
  if (!may("command") || device(deviceId).value?.status !== "online") return false;
  let known = talkable.get(deviceId);
  if (!known) {
    const asked = signal(false);
    known = asked;
    talkable.set(deviceId, known);
    get<CommandType[]>("/commands/types", { deviceId }).then(
      (types) => {
        asked.value = types.some(({ type }) => type === "videoStart");
      },
      // Without an answer nothing is offered until the page is loaded again.
      () => {},
    );
  }
  return known.value;
}

/** The socket, the microphone and the loudspeaker of one talk. */
class Line {
  readonly #tile: TileId;
  #socket: WebSocket | null = null;
  #audio: AudioContext | null = null;
  #microphone: MediaStream | null = null;
  #closed = false;
  readonly #hidden = () => {
    if (document.visibilityState === "hidden") endTalk();
  };

  constructor(tile: TileId) {
    this.#tile = tile;
  }

  async open(): Promise<void> {
    if (!window.isSecureContext || !navigator.mediaDevices) {
      this.#fail(t("talk.insecure"));
      return;
    }
    document.addEventListener("visibilitychange", this.#hidden);
    // Before anything is waited for: browsers let sound begin with what the user does.
    this.#audio = new AudioContext();
    try {
      const [stream] = await Promise.all([
        navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } }),
        this.#audio.audioWorklet.addModule(worklet),
        this.#audio.resume(),
      ]);
      this.#microphone = stream;
    } catch (problem) {
      this.#fail(wordsOf(problem));
    }
    if (this.#closed) this.#release();
    else this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#release();
  }

  #connect(): void {
    const { deviceId, camera } = this.#tile;
    const url = new URL(
      address(`/stream/${deviceId}/${camera}/talk`, { errors: "close" }),
      window.location.href,
    );
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onopen = () => this.#pass(socket);
    socket.onclose = ({ code, reason }) => {
      if (!this.#closed) this.#fail(endOf(code, reason));
    };
  }

  #pass(socket: WebSocket): void {
    const audio = this.#audio;
    if (!audio || !this.#microphone || !state.value) return;
    state.value = { ...state.value, phase: "open" };
    const loudspeaker = new AudioWorkletNode(audio, "talk-loudspeaker", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    loudspeaker.connect(audio.destination);
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      level.value = { ...level.value, heard: loudnessOf(data) };
      loudspeaker.port.postMessage(data, [data]);
    };
    const microphone = new AudioWorkletNode(audio, "talk-microphone", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    audio.createMediaStreamSource(this.#microphone).connect(microphone);
    microphone.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      const speaking = Boolean(state.value?.speaking);
      level.value = { ...level.value, said: speaking ? loudnessOf(data) : 0 };
      if (speaking && socket.readyState === WebSocket.OPEN) socket.send(data);
    };
  }

  #fail(problem: string): void {
    if (!this.#closed && state.value)
      state.value = { ...state.value, phase: "ended", speaking: false, problem };
    this.close();
  }

  #release(): void {
    document.removeEventListener("visibilitychange", this.#hidden);
    this.#socket?.close();
    for (const track of this.#microphone?.getTracks() ?? []) track.stop();
    if (this.#audio && this.#audio.state !== "closed") void this.#audio.close();
    this.#socket = this.#audio = this.#microphone = null;
  }
}

/** From 0 to 1, as it is heard: 40 dB below full scale is 0. */
function loudnessOf(frame: ArrayBuffer): number {
  const samples = new Int16Array(frame);
  const most = samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 1);
  return Math.max(0, 1 + (20 * Math.log10(most / 32_768)) / 40);
}

/** What a talk without a microphone is told by. */
export function wordsOf(problem: unknown): string {
  const name = problem instanceof DOMException ? problem.name : "";
  if (name === "NotAllowedError") return t("talk.refused");
  if (name === "NotFoundError") return t("talk.noMicrophone");
  return t("talk.microphoneBroken");
}

/** Why a line has ended, by the close code and reason of its socket. */
export function endOf(code: number, reason: string): string {
  switch (code) {
    case 4409:
      return t("talk.busy", { name: reason.replace(/ talks to the driver already$/, "") });
    case 4403:
      return t("talk.forbidden");
    case 4503:
      return t("talk.noAnswer");
    case 1006:
      return t("talk.lost");
    default:
      return code >= 4000 ? t("talk.cannot", { reason }) : t("talk.ended", { reason });
  }
}
