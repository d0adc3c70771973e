/** The two ends of a talk in the browser's audio thread: the microphone, and what is heard of the vehicle. */

import { JitterBuffer } from "./jitterBuffer";
import { Resampler } from "./resample";

// What this thread has beside the language; no library of types names it.
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const LINE_RATE = 8000;
/** 40 ms in a message. */
const FRAME_SAMPLES = 320;

/** Sends what the microphone hears: messages of 16-bit samples, 8,000 a second. */
class Microphone extends AudioWorkletProcessor {
  readonly #resampler = new Resampler(sampleRate, LINE_RATE);
  #frame = new Int16Array(FRAME_SAMPLES);
  #filled = 0;

  process([input]: Float32Array[][]): boolean {
    const channel = input?.[0];
    if (!channel) return true;
    for (const sample of this.#resampler.push(channel)) {
      this.#frame[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 32_767;
      if (this.#filled < FRAME_SAMPLES) continue;
      this.port.postMessage(this.#frame.buffer, [this.#frame.buffer]);
      this.#frame = new Int16Array(FRAME_SAMPLES);
      this.#filled = 0;
    }
    return true;
  }
}

/** Plays such messages. */
class Loudspeaker extends AudioWorkletProcessor {
  readonly #resampler = new Resampler(LINE_RATE, sampleRate);
  readonly #buffer = new JitterBuffer(sampleRate);

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      const samples = Float32Array.from(new Int16Array(data), (sample) => sample / 32_768);
      this.#buffer.push(this.#resampler.push(samples));
    };
  }

  process(_: unknown, [output]: Float32Array[][]): boolean {
    const [first, ...others] = output ?? [];
    if (!first) return true;
    this.#buffer.pull(first);
    for (const each of others) each.set(first);
    return true;
  }
}

registerProcessor("talk-microphone", Microphone);
registerProcessor("talk-loudspeaker", Loudspeaker);
