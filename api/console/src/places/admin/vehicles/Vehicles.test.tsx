import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { ComputedAttribute, Driver, DriverAssignment, Maintenance } from "../../../api/types";
import { openPage } from "../../../testing/page";
import { deviceOf, positionOf } from "../../../testing/records";
import { FakeServer, refusal } from "../../../testing/server";

/** A server with vans 1 to 3, of which the second one is archived, and a group. */
function withVans(): FakeServer {
  const server = new FakeServer();
  server.devices = [
    deviceOf(1, { name: "Van 1", uniqueId: "v1", attributes: { color: "red" } }),
    deviceOf(2, { name: "Van 2", uniqueId: "v2", disabled: true, attributes: { "console.archived": true } }),
    deviceOf(3, { name: "Van 3", uniqueId: "v3", status: "online", attributes: { color: "blue" } }),
  ];
  server.answer("listGroups", [{ id: 4, name: "North", groupId: 0, attributes: {} }]);
  server.answer("listDrivers", []);
  return server;
}

const names = () => screen.getAllByRole("rowheader").map((cell) => cell.textContent);

test("archived vehicles are out of sight, several are changed by one table, and what fails is told", async () => {
  const server = withVans();
  const sent: string[] = [];
  server.answer("importDevices", async ({ body }) => {
    sent.push(await (body as Blob).text());
    const fault = { column: "contact", text: "too long" };
    return {
      stored: true,
      created: 0,
      updated: 1,
      unchanged: 0,
      faulty: 1,
      rows: [
        { row: 2, uniqueId: "v1", name: "Van 1", outcome: "updated", deviceId: 1, faults: [] },
        { row: 3, uniqueId: "v3", name: "Van 3", outcome: "faulty", deviceId: 3, faults: [fault] },
      ],
    };
  });
  const page = await openPage("/admin/devices", server);
  await waitFor(() => expect(names()).toEqual(["Van 1", "Van 3"]));
  await page.click("checkbox", "Select all");
  await page.click("button", "Edit…");
  await page.user.selectOptions(screen.getByLabelText("Field"), "contact");
  await page.fill("New value", 'Ana "the boss", Porto');
  await page.expectAccessible();
  await page.click("button", "Save");
  await screen.findByText("1 vehicle could not be changed:");
  expect(sent).toEqual([
    'uniqueId,contact\r\nv1,"Ana ""the boss"", Porto"\r\nv3,"Ana ""the boss"", Porto"\r\n',
  ]);
  expect(screen.getByText("too long")).toBeTruthy();
});

test("a file is not stored before its faults are seen and left out", async () => {
  const server = withVans();
  const queries: string[] = [];
  server.answer("importDevices", ({ query }) => {
    queries.push(query.toString());
    const fault = { column: "name", text: "needed" };
    return {
      stored: query.get("dryRun") !== "true",
      created: 1,
      updated: 0,
      unchanged: 0,
      faulty: 1,
      rows: [
        { row: 2, uniqueId: "n1", name: "New", outcome: "created", deviceId: 0, faults: [] },
        { row: 3, uniqueId: "n2", name: "", outcome: "faulty", deviceId: 0, faults: [fault] },
      ],
    };
  });
  const page = await openPage("/admin/devices", server);
  await page.click("button", "Import…");
  await page.user.upload(screen.getByLabelText("File"), new File(["x"], "f.csv", { type: "text/csv" }));
  const store = await screen.findByRole<HTMLButtonElement>("button", { name: "Import 1 row" });
  const rows = within(screen.getByRole("grid", { name: "Rows of the file" })).getAllByRole("row");
  expect(rows[1]?.textContent).toContain("name: needed");
  expect(store.disabled).toBe(true);
  await page.user.click(screen.getByLabelText("Leave out 1 faulty row"));
  await page.user.click(store);
  await screen.findByText("Imported: 1 new, 0 changed");
  expect(queries).toEqual(["dryRun=true", "skipFaulty=true"]);
});

test("drivers show what they drive now, and keys of nobody are listed", async () => {
  const server = withVans();
  const drivers: Driver[] = [{ id: 5, name: "Ana", uniqueId: "AB12", attributes: {} }];
  server.answer("listDrivers", drivers);
  server.devices = [
    ...server.devices.slice(0, 1),
    deviceOf(3, { name: "Van 3", status: "online" }),
    deviceOf(4, { name: "Van 4", status: "online" }),
  ];
  server.positions = [
    positionOf(3, { attributes: { driverUniqueId: "AB12" } }),
    positionOf(4, { attributes: { driverUniqueId: "ZZ99" } }),
  ];
  const page = await openPage("/admin/drivers", server);
  expect((await screen.findByRole("link", { name: "Van 3" })).getAttribute("href")).toBe("/vehicles/3");
  expect(screen.getByRole("region", { name: "Keys of no driver" }).textContent).toContain("ZZ99");
  await page.expectAccessible();
});

test("what is due stands first, and a reset begins the next period where the vehicle is", async () => {
  const server = withVans();
  const oil: Maintenance = {
    id: 7,
    name: "Oil",
    type: "totalDistance",
    start: 10_000,
    period: 5_000,
    attributes: {},
  };
  let stored = oil;
  server.answer("listMaintenances", () => [stored]);
  server.answer("getMaintenance", () => stored);
  server.answer("updateMaintenance", ({ body }) => {
    stored = body as Maintenance;
    return stored;
  });
  server.answer("listDueMaintenance", ({ query }) => {
    expect(query.get("all")).toBe("true");
    const next = stored.start + stored.period;
    return [
      { maintenanceId: 7, deviceId: 3, value: 16_000, next, state: next <= 16_000 ? "due" : "later" },
      // Deleted meanwhile.
      { maintenanceId: 8, deviceId: 3, value: null, next: null, state: "unknown" },
    ];
  });
  const page = await openPage("/admin/maintenance", server);
  const due = await screen.findByRole("grid", { name: "What is due" });
  await waitFor(() => expect(within(due).getByText("Due")).toBeTruthy());
  await page.user.click(within(due).getByRole("button", { name: "Reset" }));
  const dialog = await screen.findByRole("dialog");
  await page.user.click(within(dialog).getByRole("button", { name: "Reset" }));
  await screen.findByText("Later");
  expect(stored).toEqual({ ...oil, start: 16_000 });
  expect(server.asked("listDueMaintenance")).toHaveLength(2);
});

test("an expression is tried after the last key, its error marked, and its variables written by a press", async () => {
  const server = withVans();
  server.answer("listComputedAttributes", []);
  server.positions = [positionOf(1, { attributes: { power: 12.5 } })];
  server.answer("testComputedAttribute", ({ body }) => {
    const { expression } = body as ComputedAttribute;
    return expression === "power * 2"
      ? 25
      : refusal(400, "expression: the expression ends too early at character 8");
  });
  const page = await openPage("/admin/attributes", server);
  await page.click("button", "New computed attribute");
  await page.user.click(await screen.findByRole("button", { name: /^power/ }));
  const area = screen.getByLabelText<HTMLTextAreaElement>("Expression");
  expect(area.value).toBe("power");
  await page.user.type(area, " *");
  await screen.findByText(/ends too early/);
  expect(document.querySelector(".vehicles-trial pre")?.textContent).toBe("power *\n       ^");
  await page.user.type(area, " 2");
  await screen.findByText("25 (number)");
  await page.expectAccessible();
});

test("who drove is entered by hand, changed and deleted", async () => {
  const server = withVans();
  const ana: Driver = { id: 5, name: "Ana", uniqueId: "A1", attributes: {} };
  server.answer("listDrivers", [ana]);
  let rows: DriverAssignment[] = [];
  server.answer("listDriverAssignments", () => rows);
  server.answer("getDriverAssignment", () => rows[0] ?? refusal(404));
  server.answer("createDriverAssignment", ({ body }) => {
    rows = [{ ...(body as DriverAssignment), id: 6 }];
    return rows[0] as DriverAssignment;
  });
  server.answer(
    "updateDriverAssignment",
    refusal(400, "startTime, endTime: the span overlaps driver assignment 2"),
  );
  server.answer("deleteDriverAssignment", () => {
    rows = [];
    return null;
  });
  const page = await openPage("/admin/drivers", server);
  await page.click("button", "Enter who drove");
  const dialog = await screen.findByRole("dialog");
  const save = within(dialog).getByRole("button", { name: "Save" });
  expect(save).toHaveProperty("disabled", true);
  await page.user.type(within(dialog).getByRole("combobox", { name: "Vehicle" }), "van 3");
  await page.user.click(await within(dialog).findByRole("option", { name: /Van 3/ }));
  await page.user.type(within(dialog).getByRole("combobox", { name: "Driver" }), "ana");
  await page.user.click(await within(dialog).findByRole("option", { name: /Ana/ }));
  await page.expectAccessible();
  await page.user.click(save);
  const grid = await screen.findByRole("grid", { name: "Who drove, by hand" });
  await within(grid).findByText("Ana");
  expect(server.asked("createDriverAssignment")[0]?.body).toMatchObject({ deviceId: 3, driverId: 5 });
  await page.user.click(within(grid).getByRole("button", { name: /^Edit/ }));
  const edited = await screen.findByRole("dialog");
  fireEvent.input(within(edited).getByLabelText("From"), { target: { value: "2026-06-15T10:00" } });
  await page.user.click(within(edited).getByRole("button", { name: "Save" }));
  await within(edited).findByText(/the span overlaps driver assignment 2/);
  await page.user.click(within(edited).getByRole("button", { name: "Close" }));
  await page.user.click(within(grid).getByRole("button", { name: /^Delete/ }));
  await page.user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByRole("grid", { name: "Who drove, by hand" })).toBeNull());
});
