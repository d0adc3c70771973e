import { describe, expect, test } from "vitest";
import { start as en } from "../i18n/en";
import { attributesOf, kindOf, offered } from "./fields";

describe("types", () => {
  test("of cameras are offered elsewhere, and unknown ones last", () => {
    expect(
      offered(["videoStart", "custom", "alarmArm", "engineStop", "videoPlayback", "positionSingle"]),
    ).toEqual(["positionSingle", "engineStop", "custom", "alarmArm"]);
  });

  test("that stop a vehicle or may cut the device off are dangerous", () => {
    const types = ["engineStop", "engineResume", "factoryReset", "rebootDevice", "powerOff", "setConnection"];
    for (const type of types) expect(kindOf(type).dangerous).toBe(true);
    for (const type of ["positionSingle", "message", "custom"])
      expect(kindOf(type).dangerous).toBeUndefined();
  });

  test("have names, and their fields labels", () => {
    for (const type of ["engineStop", "setOdometer", "custom", "configuration"]) {
      expect(en).toHaveProperty([`command.type.${type}`]);
      for (const field of kindOf(type).fields) expect(en).toHaveProperty([field.label]);
    }
  });

  test("that the page does not know take text", () => {
    expect(kindOf("alarmArm").fields.map((field) => field.name)).toEqual(["data"]);
  });
});

describe("what was entered", () => {
  test("becomes attributes, without what is empty", () => {
    const kind = kindOf("positionPeriodic");
    expect(attributesOf(kind, { frequency: " 60 ", duration: "" })).toEqual({
      attributes: { frequency: 60 },
      refusals: {},
    });
    expect(attributesOf(kindOf("setConnection"), { server: "a.example", port: "5023" }).attributes).toEqual({
      server: "a.example",
      port: 5023,
    });
  });

  test("is in the unit of the attribute", () => {
    expect(attributesOf(kindOf("setOdometer"), { data: "12.4" }).attributes).toEqual({ data: 12_400 });
  });

  test("must be there and in range", () => {
    expect(attributesOf(kindOf("setSpeedLimit"), {}).refusals).toEqual({ data: "command.needed" });
    for (const data of ["256", "-1", "12.5", "fast", "1e9"]) {
      expect(attributesOf(kindOf("setSpeedLimit"), { data }).refusals).toEqual({
        data: "command.notInRange",
      });
    }
  });
});
