import { screen, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, serverOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

const TOWN = {
  kind: "town",
  name: "Porto",
  latitude: 41.15,
  longitude: -8.61,
  geofenceId: null,
  country: "PT",
} as const;
const STREET = { ...TOWN, kind: "address", name: "6, Marktplatz", country: null } as const;
const DEPOT = { ...TOWN, kind: "geofence", name: "Porto depot", geofenceId: 4, country: null } as const;

function server(): FakeServer {
  const found = new FakeServer();
  found.devices = [deviceOf(1)];
  found.answer("findPlaces", ({ query }) => (query.get("addresses") === "true" ? [STREET] : [DEPOT, TOWN]));
  return found;
}

const places = () => screen.findByRole("list", { name: "Places" });

test("a search finds towns, near what the map shows, and leads to them on the map", async () => {
  const asked = server();
  const page = await openPage("/fleet?at=12/40/-8", asked);
  await page.user.type(await screen.findByLabelText("Search name or number"), "port");
  const list = within(await places());
  expect(list.getAllByRole("link").map((link) => link.textContent)).toEqual(["Porto, Portugal"]);
  expect(list.queryByRole("button")).toBeNull();
  await page.expectAccessible();
  await page.click("link", "Porto, Portugal");
  const query = new URLSearchParams(page.address.split("?")[1]);
  expect(query.get("at")).toBe("11.00/41.150000/-8.610000");
  expect([query.get("place"), query.get("placeName")]).toEqual(["41.15,-8.61", "Porto"]);
  await page.user.clear(await screen.findByLabelText("Search name or number"));
  expect(screen.queryByRole("list", { name: "Places" })).toBeNull();
});

test("addresses are looked for by a button, where the server has a geocoder", async () => {
  const asked = server();
  asked.answer("getServer", serverOf({ geocoderEnabled: true }));
  const page = await openPage("/fleet", asked);
  await page.user.type(await screen.findByLabelText("Search name or number"), "marktplatz 6");
  await page.click("button", "Find the address “marktplatz 6”");
  expect(await screen.findByRole("link", { name: "6, Marktplatz" })).toBeTruthy();
  asked.answer("findPlaces", () => []);
  await page.user.type(await screen.findByLabelText("Search name or number"), "0");
  await page.click("button", "Find the address “marktplatz 60”");
  expect(await screen.findByText("No such address was found.")).toBeTruthy();
});

test("the palette leads to towns", async () => {
  const page = await openPage("/events", server());
  await screen.findByRole("heading", { level: 1 });
  await page.user.keyboard("{Control>}k{/Control}");
  await page.user.type(await screen.findByRole("combobox", { name: "Search" }), "port");
  await page.click("option", /^Porto, Portugal/);
  expect(page.address).toMatch(/^\/fleet\?at=.*placeName=Porto/);
});
