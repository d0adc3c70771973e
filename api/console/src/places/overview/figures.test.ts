import { expect, test } from "vitest";
import { deviceOf, positionOf } from "../../testing/records";
import { countStates, silentCameras } from "./figures";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const time = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

function vehicle(
  id: number,
  status: string,
  minutes: number,
  attributes: Record<string, unknown>,
  protocol = "jt808",
) {
  const at = time(minutes);
  return {
    device: deviceOf(id, { status, lastUpdate: at } as never),
    position: positionOf(id, { protocol, attributes, fixTime: at, serverTime: at, deviceTime: at } as never),
  };
}

test("each vehicle is in one state", () => {
  const known = [
    vehicle(1, "online", 0, { motion: true }),
    vehicle(2, "online", 0, { motion: false }),
    vehicle(3, "online", 9, { motion: true }),
    vehicle(4, "offline", 9, {}),
    { device: deviceOf(5, { status: "offline", lastUpdate: null } as never), position: undefined },
  ];
  expect(countStates(known, NOW)).toMatchObject({
    moving: 1,
    standing: 1,
    silent: 1,
    offline: 1,
    never: 1,
    online: 0,
  });
});

test("cameras are silent with their vehicle, or where it has lost their pictures", () => {
  const known = [
    vehicle(1, "online", 0, { motion: false }),
    vehicle(2, "online", 0, { motion: false, videoLost: 0b1010 }),
    vehicle(3, "unknown", 60, {}),
    // It has logged off: nobody expects pictures.
    vehicle(4, "offline", 60, { videoLost: 1 }),
    // No cameras.
    vehicle(5, "unknown", 60, {}, "gt06"),
    { device: deviceOf(6), position: undefined },
  ];
  expect(silentCameras(known, NOW).map(({ device, lost }) => [device.id, lost])).toEqual([
    [2, [2, 4]],
    [3, []],
  ]);
});
