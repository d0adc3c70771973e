import { cleanup, render, screen, within } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import { useState } from "preact/hooks";
import { afterEach, expect, test, vi } from "vitest";
import { setLanguage } from "../i18n/translate";
import { type Column, type RowKey, Table } from "./Table";

afterEach(cleanup);

interface Van {
  id: number;
  name: string;
  km: number;
}

const vans: readonly Van[] = Array.from({ length: 10_000 }, (_, index) => ({
  id: index + 1,
  name: `Van ${index + 1}`,
  km: (index * 37) % 1000,
}));
const columns: readonly Column<Van>[] = [
  { key: "name", label: "Name", value: (van) => van.name },
  {
    key: "km",
    label: "Distance",
    numeric: true,
    value: (van) => van.km,
    cell: (van) => `${van.km} km`,
    sum: (some) => `${some.reduce((total, { km }) => total + km, 0)} km`,
  },
];
const idOf = (van: Van) => van.id;

function Shown(props: { rows: readonly Van[]; onOpen?: (van: Van) => void; seen?: (ids: RowKey[]) => void }) {
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set());
  return (
    <Table
      label="Vans"
      columns={columns}
      rows={props.rows}
      keyOf={idOf}
      selected={selected}
      onSelect={(keys) => {
        props.seen?.([...keys]);
        setSelected(keys);
      }}
      onOpen={(van) => props.onOpen?.(van)}
      foot
    />
  );
}

test("of 10,000 rows only those in view are drawn, and the foot has the sums of all", async () => {
  await setLanguage("en");
  render(<Shown rows={vans} />);
  const grid = screen.getByRole("grid", { name: "Vans" });
  expect(grid.getAttribute("aria-rowcount")).toBe("10002");
  const drawn = within(grid).getAllByRole("row");
  expect(drawn.length).toBeLessThan(60);
  expect(drawn.at(-1)?.textContent).toBe("10,000 in all4995000 km");
  expect(drawn[1]?.textContent).toBe("Van 10 km");
});

test("a press on a head sorts, and says so", async () => {
  await setLanguage("en");
  render(<Shown rows={vans.slice(0, 5)} />);
  const head = screen.getByRole("columnheader", { name: "Distance" });
  expect(head.getAttribute("aria-sort")).toBe("none");
  await userEvent.click(within(head).getByRole("button"));
  expect(head.getAttribute("aria-sort")).toBe("ascending");
  await userEvent.click(within(head).getByRole("button"));
  expect(head.getAttribute("aria-sort")).toBe("descending");
  expect(screen.getAllByRole("row")[1]?.textContent).toBe("Van 5148 km");
});

test("rows are selected by boxes, by ranges with Shift, and all at once", async () => {
  await setLanguage("en");
  const seen = vi.fn();
  const user = userEvent.setup();
  render(<Shown rows={vans.slice(0, 6)} seen={seen} />);
  const boxes = screen.getAllByRole("checkbox", { name: "Select" });
  await user.click(boxes[1] as HTMLElement);
  expect(seen).toHaveBeenLastCalledWith([2]);
  await user.keyboard("{Shift>}");
  await user.click(boxes[4] as HTMLElement);
  await user.keyboard("{/Shift}");
  expect(seen).toHaveBeenLastCalledWith([2, 3, 4, 5]);
  expect(screen.getAllByRole("row")[3]?.getAttribute("aria-selected")).toBe("true");
  const all = screen.getByRole<HTMLInputElement>("checkbox", { name: "Select all" });
  expect([all.checked, all.indeterminate]).toEqual([false, true]);
  await user.click(all);
  expect(seen).toHaveBeenLastCalledWith([1, 2, 3, 4, 5, 6]);
  await user.click(all);
  expect(seen).toHaveBeenLastCalledWith([]);
});

test("the keys move, select, extend and open", async () => {
  await setLanguage("en");
  const [seen, onOpen] = [vi.fn(), vi.fn()];
  const user = userEvent.setup();
  render(<Shown rows={vans.slice(0, 6)} seen={seen} onOpen={onOpen} />);
  const grid = screen.getByRole("grid");
  grid.focus();
  await user.keyboard("{ArrowDown}{ArrowDown} ");
  expect(seen.mock.lastCall?.[0]).toHaveLength(1);
  const current = document.getElementById(grid.getAttribute("aria-activedescendant") ?? "");
  expect(current?.getAttribute("aria-selected")).toBe("true");
  await user.keyboard("{Shift>}{ArrowDown}{ArrowDown}{/Shift}");
  expect(seen.mock.lastCall?.[0]).toHaveLength(3);
  await user.keyboard("{Home}{Enter}");
  expect(onOpen).toHaveBeenLastCalledWith(vans[0]);
  await user.keyboard("{End}{Enter}");
  expect(onOpen).toHaveBeenLastCalledWith(vans[5]);
  await user.keyboard("{Control>}a{/Control}");
  expect(seen.mock.lastCall?.[0]).toHaveLength(6);
});

test("groups have a heading with their sums, which folds them", async () => {
  await setLanguage("en");
  const grouping = { of: (van: Van) => van.id % 2, label: (key: RowKey) => (key ? "odd" : "even") };
  render(<Table label="Vans" columns={columns} rows={vans.slice(0, 4)} keyOf={idOf} grouping={grouping} />);
  const lines = () => screen.getAllByRole("row").map((row) => row.textContent);
  expect(lines()).toEqual([
    "NameDistance",
    "odd74 km",
    "Van 10 km",
    "Van 374 km",
    "even148 km",
    "Van 237 km",
    "Van 4111 km",
  ]);
  const odd = screen.getAllByRole("row")[1] as HTMLElement;
  expect(odd.getAttribute("aria-expanded")).toBe("true");
  await userEvent.click(odd);
  expect(lines()).toEqual(["NameDistance", "odd74 km", "even148 km", "Van 237 km", "Van 4111 km"]);
  screen.getByRole("treegrid").focus();
  await userEvent.keyboard("{ArrowRight}");
  expect(lines()).toHaveLength(7);
});

test("all rows are drawn while the page is printed", async () => {
  await setLanguage("en");
  const { container } = render(<Shown rows={vans.slice(0, 120)} />);
  const drawn = () => container.querySelectorAll("[data-line]").length;
  expect(drawn()).toBeLessThan(60);
  window.dispatchEvent(new Event("beforeprint"));
  expect(drawn()).toBe(120);
  window.dispatchEvent(new Event("afterprint"));
  expect(drawn()).toBeLessThan(60);
});
