import { screen, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { ticketOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

function withTicket(): FakeServer {
  const server = new FakeServer();
  const ticket = ticketOf(118, { companyId: 1, number: 7 });
  server.answer("listCompanies", [{ id: 1, name: "North", uniqueId: null, disabled: false, attributes: {} }]);
  server.answer("getTicket", ticket);
  server.answer("listTickets", []);
  server.answer("listTicketEvents", []);
  server.answer("listTicketServiceLevels", []);
  server.answer("putTicketPresence", []);
  server.answer("deleteTicket", null);
  return server;
}

test("a manager deletes a ticket after a question, and a refusal is said in it", async () => {
  const server = withTicket();
  server.answer("deleteTicket", refusal(400, "only managers delete tickets"));
  const page = await openPage("/tickets/118", server);
  const head = (await screen.findByRole("heading", { name: /#7/ })).closest("header") ?? document.body;
  await page.user.click(within(head).getByRole("button", { name: "More" }));
  await page.click("menuitem", "Delete");
  const question = await screen.findByRole("dialog");
  within(question).getByText("Delete ticket 7?");
  await page.user.click(within(question).getByRole("button", { name: "Delete" }));
  await within(question).findByText("Only managers delete tickets.");
  server.answer("deleteTicket", null);
  await page.user.click(within(question).getByRole("button", { name: "Delete" }));
  await page.expectAddress("/tickets/list");
  expect(server.asked("deleteTicket").map(({ ids }) => ids)).toEqual([[118], [118]]);
});
