/** Controls of the playbacks that were asked for at once, one after the other. */

import { type Control, control } from "./fetch";

export class Steering {
  private latest: Promise<void> = Promise.resolve();

  /** `cameras` says of which cameras playbacks were asked for. */
  constructor(
    private readonly deviceId: number,
    private readonly cameras: () => readonly number[],
  ) {}

  /** Control all of them, once earlier controls have reached them. */
  steer(name: Control, values: { time?: number; speed?: number } = {}): Promise<void> {
    const cameras = this.cameras();
    const earlier = this.latest;
    this.latest = (async () => {
      // Its own caller handles its failure.
      await earlier.catch(() => {});
      for (const camera of cameras) await control(this.deviceId, camera, name, values);
    })();
    return this.latest;
  }

  /** Have the vehicle send so many times as fast; 1 goes on at the usual speed, also after a pause. */
  pace(sent: number): Promise<void> {
    return sent > 1 ? this.steer("forward", { speed: sent }) : this.steer("resume");
  }
}
