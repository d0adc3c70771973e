/** Controls of the playbacks that were asked for at once, one after the other. */

import { clockNow } from "./clock";
import { type Control, control } from "./fetch";

interface Values {
  /** In milliseconds since 1970. */
  time?: number;
  /** How many times as fast. */
  speed?: number;
}

export class PlaybackControls {
  private latest: Promise<void> = Promise.resolve();

  /** `cameras` says of which cameras playbacks were asked for. */
  constructor(
    private readonly deviceId: number,
    private readonly cameras: () => readonly number[],
  ) {}

  /** Control all of them, once earlier controls have reached them; `time` is the one that is shown. */
  steer(name: Control, values: Values = {}): Promise<void> {
    const cameras = this.cameras();
    const earlier = this.latest;
    this.latest = (async () => {
      // Its own caller handles its failure.
      await earlier.catch(() => {});
      for (const camera of cameras) await control(this.deviceId, camera, name, this.valuesOf(camera, values));
    })();
    return this.latest;
  }

  /** The same in the camera's own times, of which devices know whole seconds. */
  private valuesOf(camera: number, { time, ...others }: Values): Values {
    if (time === undefined) return others;
    return { ...others, time: Math.floor((time - clockNow(this.deviceId, camera)) / 1000) * 1000 };
  }

  /** Have the vehicle send so many times as fast; 1 goes on at the usual speed, also after a pause. */
  pace(sent: number): Promise<void> {
    return sent > 1 ? this.steer("forward", { speed: sent }) : this.steer("resume");
  }
}
