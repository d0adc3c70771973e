import { expect, test } from "vitest";
import { containsNumber, guessProtocol } from "./protocolGuess";

test("bytes look like a protocol, and hold a number", () => {
  const samples: [string, string | null][] = [
    ["78780d01035339800000000500018ee70d0a", "gt06"],
    ["7e0100002d013912345678000000007e", "jt808"],
    ["000f333536333037303432343431303133", "teltonika"],
    ["##,imei:359586015829802,A;", "gps103"],
    ["*HQ,4209917484,V1,051855,A", "h02"],
    ["$$A28,353358017784062,A10*44\r\n", "meitrack"],
    ["[3G*8800000015*0002*LK]", "watch"],
    ["(013612345678BP00)", "tk103"],
    ["ST300STT;907036704;01;700", "suntech"],
    ["GET / HTTP/1.1\r\n", null],
    ["160301020001000", null],
  ];
  for (const [data, protocol] of samples) expect(guessProtocol(data), data).toBe(protocol);
  expect(containsNumber("7e0100002d013912345678000000007e", "13912345678")).toBe(true);
  expect(containsNumber("imei:359586015829802", "359586015829802")).toBe(true);
  expect(containsNumber("000f333539353836", "359586")).toBe(true);
  expect(containsNumber("anything", "van")).toBe(false);
});
