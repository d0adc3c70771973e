import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, positionOf, ticketOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

test("a key makes a ticket about the vehicle that is open", async () => {
  const server = new FakeServer();
  server.devices = [deviceOf(9)];
  server.positions = [positionOf(9, { id: 90 })];
  server.answer("listCompanies", [
    { id: 4, name: "North", uniqueId: "north", disabled: false, attributes: {} },
  ]);
  server.answer("createTicket", ticketOf(1, { number: 12 }));
  const page = await openPage("/vehicles/9", server);
  await page.click("button", "More: Van 9");
  await screen.findByRole("menuitem", { name: "Make a ticket" });
  await page.press("{Escape}");
  await page.press("t");
  await screen.findByRole("dialog", { name: "Make a ticket" });
  expect(document.activeElement).toBe(screen.getByLabelText("What is it about?"));
  await page.expectAccessible();
  await page.press("Broken mirror{Enter}");
  await screen.findByText("Ticket #12 made");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.asked("createTicket").map(({ body }) => body)).toEqual([
    { companyId: 4, subject: "Broken mirror", deviceId: 9, positionId: 90, channel: "web" },
  ]);
});
