/** The sound of an alarm: two short tones, made by the browser. */

let context: AudioContext | undefined;

/** Play it, if the browser lets a page that was clicked make sounds. */
export function playAlarm(): void {
  context ??= new AudioContext();
  void context.resume();
  const begin = context.currentTime;
  for (const [offset, frequency] of [
    [0, 880],
    [0.22, 660],
  ] as const) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.15, begin + offset);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + offset + 0.2);
    tone.connect(volume).connect(context.destination);
    tone.start(begin + offset);
    tone.stop(begin + offset + 0.2);
  }
}
