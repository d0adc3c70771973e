import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Protocol } from "../../api/types";
import { openPage } from "../../testing/page";
import { bindingOf, deviceOf, positionOf, userOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

const protocol = (name: string, port: number): Protocol => ({
  name,
  transport: "tcp",
  udp: false,
  port,
  identity: "",
  enabled: true,
  host: null,
  models: name === "gt06" ? ["LW4G", "NT20"] : [],
});

/** A server that listens for two protocols. */
function listening(): FakeServer {
  const server = new FakeServer();
  server.answer("listProtocols", [protocol("gt06", 5023), protocol("jt808", 5015)]);
  server.answer("createDevice", ({ body }) => {
    const made = deviceOf(6, body as object);
    server.devices = [...server.devices, made];
    return made;
  });
  return server;
}

test("what is wrong with a tracker is said", async () => {
  const server = listening();
  const van = deviceOf(5, { uniqueId: "13900000555" });
  server.devices = [van];
  const page = await openPage("/connect?protocol=gt06&deviceId=5", server);
  const wait = within(await screen.findByRole("region", { name: "Wait for it" }));
  const said = () => wait.findByRole("status");
  expect((await said()).textContent).toContain("Nothing heard yet");
  await waitFor(() => expect(server.said).toEqual([{ logs: true }]));
  server.push({
    logs: [
      {
        host: "127.0.0.1",
        protocol: "jt808",
        data: "7e010000210139000005550001000000007e",
        problem: "the check byte is wrong",
      },
    ],
  });
  await wait.findByText("Its messages are dropped: wrong check value");
  server.push({ logs: [{ host: "127.0.0.1", protocol: "jt808", uniqueId: "018800000001" }] });
  const others = await screen.findByRole("region", { name: "Heard, and of no vehicle" });
  expect(others.textContent).toContain("018800000001");
  await page.expectAccessible();

  server.saveDevice({ ...van, disabled: true });
  await wait.findByText("This vehicle must not report");
});

test("who sees no traffic is told what to check", async () => {
  const server = listening();
  server.user = userOf({ administrator: false, deviceLimit: 5 });
  const page = await openPage("/fleet", server);
  await screen.findByText("No vehicles yet");
  const [, empty] = await screen.findAllByRole("link", { name: "Connect a tracker" });
  await page.user.click(empty as HTMLElement);
  await page.fill("Make, model or protocol", "13900000666");
  await page.press("{Enter}");
  const number = await screen.findByLabelText<HTMLInputElement>(/^Number of the tracker/);
  expect(number.value).toBe("13900000666");
  await page.fill(/^Name/, "Van 6");
  await page.press("{Enter}");
  const silent = await screen.findByRole("region", { name: "If it stays silent" });
  expect(silent.textContent).toContain("send 13900000666");
  expect(server.asked("createDevice")[0]?.body).toEqual({
    name: "Van 6",
    uniqueId: "13900000666",
    phone: null,
  });
  expect(server.said).toEqual([]);
  await screen.findByRole("button", { name: "Copy a link for the administrator" });
  await page.expectAccessible();
  server.report(positionOf(6));
  await screen.findByRole("heading", { name: "Van 6" });
  // It can be found again by its number.
  await page.click("link", "Connect another one");
  await page.fill("Make, model or protocol", "13900000666");
  await page.press("{Enter}");
  await screen.findByRole("button", { name: "You have it already: wait for Van 6" });
});

test("who may not add vehicles is not offered it", async () => {
  const server = listening();
  server.user = userOf({ administrator: false, deviceLimit: 0 });
  await openPage("/fleet", server);
  await screen.findByText("No vehicles yet");
  expect(screen.queryByRole("link", { name: "Connect a tracker" })).toBeNull();
  await openPage("/connect", server);
  await screen.findByText("You may not add vehicles.");
});

test("who may edit the vehicle takes a tracker that comes by another protocol", async () => {
  const server = listening();
  server.user = userOf({ administrator: false, deviceLimit: 5 });
  server.devices = [deviceOf(5, { uniqueId: "13900000555" })];
  const other = {
    protocol: "gt06",
    reason: "protocol",
    refused: true,
    host: "192.0.2.1",
    registration: null,
    time: new Date().toISOString(),
  };
  server.answer("getDeviceBinding", bindingOf(5, { protocol: "jt808", others: [other] }));
  server.answer("setDeviceBinding", () => {
    server.answer("getDeviceBinding", bindingOf(5, { protocol: "gt06" }));
    return bindingOf(5, { protocol: "gt06" });
  });
  const page = await openPage("/connect?protocol=gt06&deviceId=5", server);
  const region = await screen.findByRole("region", { name: "Logins under its number that differ" });
  expect(region.textContent).toContain("By another protocol: GT06");
  await page.expectAccessible();
  await page.click("button", "Take it: GT06, from 192.0.2.1");
  await waitFor(() => expect(screen.queryByRole("region", { name: /differ/ })).toBeNull());
  expect(server.asked("setDeviceBinding").map(({ body }) => body)).toEqual([{ protocol: "gt06" }]);
});

test("a model whose messages differ is chosen, and found by its name", async () => {
  const server = listening();
  const page = await openPage("/connect", server);
  await page.fill("Make, model or protocol", "nt20");
  await page.press("{Enter}");
  await page.fill(/^IMEI/, "353358017784062");
  await page.user.selectOptions(await screen.findByLabelText("Model"), "NT20");
  await page.expectAccessible();
  await page.user.click(screen.getByRole("button", { name: "Add it and wait" }));
  await waitFor(() => expect(server.asked("createDevice")[0]?.body).toMatchObject({ model: "NT20" }));
});
