import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { routes } from "./routes";
import { openPage } from "./testing/page";
import { deviceOf, eventOf, positionOf, ticketOf, zoneOf } from "./testing/records";
import { FakeServer } from "./testing/server";

const ID = 7;

function serverWithOne(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(ID)];
  server.positions = [positionOf(ID)];
  server.zones = [zoneOf(ID)];
  const event = eventOf(ID, { deviceId: ID, positionId: ID });
  server.answer("getEvent", event);
  server.answer("listPositions", server.positions);
  server.answer("getTicket", ticketOf(ID, { companyId: ID, deviceId: ID }));
  return server;
}

test.each(routes.map(({ pattern }) => pattern))("%s has one heading of the first level", async (pattern) => {
  const server = serverWithOne();
  const { open } = routes.find((each) => each.pattern === pattern) ?? {};
  if (open) server.user = null;
  await openPage(pattern.replace(":id", String(ID)), server);
  await waitFor(() => {
    expect(screen.queryByRole("status", { name: "Loading" })).toBeNull();
    const headings = screen.getAllByRole("heading", { level: 1 });
    expect(headings.map(({ textContent }) => textContent?.trim())).toHaveLength(1);
    expect(headings[0]?.textContent?.trim()).not.toBe("");
  });
  // What else the place asks for is for its own tests.
  server.complaints.length = 0;
});
