import { describe, expect, test } from "vitest";
import type { Protocol } from "../../api/types";
import { isPrivate, searched, trackersOf } from "./trackers";

describe("trackers", () => {
  const listed: Protocol[] = [
    {
      name: "zz9",
      transport: "tcp",
      udp: false,
      port: 5999,
      identity: "phone",
      enabled: true,
      host: null,
      models: [],
    },
    {
      name: "gt06",
      transport: "tcp",
      udp: false,
      port: 5023,
      identity: "text",
      enabled: true,
      host: "f.example",
      models: [],
    },
    {
      name: "osmand",
      transport: "http",
      udp: false,
      port: 5055,
      identity: "text",
      enabled: true,
      host: null,
      models: [],
    },
    {
      name: "h02",
      transport: "tcp",
      udp: true,
      port: 5013,
      identity: "text",
      enabled: false,
      host: null,
      models: [],
    },
  ];
  const trackers = trackersOf(listed, "10.0.0.1");

  test("are those that the server listens for, also what the page does not know", () => {
    expect(trackers.map(({ title }) => title)).toEqual(["GT06", "OsmAnd", "zz9"]);
    expect(trackers[0]?.message).toBe("SERVER,1,f.example,5023,0#");
    expect(trackers[1]).toMatchObject({ url: "http://10.0.0.1:5055/", message: null, number: "id" });
    expect(trackers[2]).toMatchObject({ number: "phone", models: "", url: null });
    expect(
      trackersOf(
        listed.slice(1, 2).map((each) => ({ ...each, host: null })),
        "::1",
      )[0]?.message,
    ).toBe("SERVER,0,::1,5023,0#");
  });

  test("are found by make, model and protocol", () => {
    expect(searched(trackers, "concox gt06n").map(({ name }) => name)).toEqual(["gt06"]);
    expect(searched(trackers, "traccar client").map(({ name }) => name)).toEqual(["osmand"]);
    expect(searched(trackers, "nokia")).toEqual([]);
    expect(searched(trackers, " ")).toHaveLength(3);
  });

  test("cannot reach private addresses", () => {
    const hosts = [
      "localhost",
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.9.9",
      "192.168.1.1",
      "::1",
      "van.local",
    ];
    expect(hosts.filter((host) => !isPrivate(host))).toEqual([]);
    expect(["172.32.0.1", "8.8.8.8", "10.example.org", "fleet.example"].filter(isPrivate)).toEqual([]);
  });
});
