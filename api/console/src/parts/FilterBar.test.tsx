import { render, screen } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { setLanguage } from "../i18n/translate";
import { FilterBar } from "./FilterBar";

test("a button tells how many filters are set, and opens and folds them", async () => {
  await setLanguage("en");
  const { rerender } = render(
    <FilterBar lead={<input aria-label="Search" />}>
      <p>the filters</p>
    </FilterBar>,
  );
  const button = screen.getByRole("button", { name: "Filters" });
  const body = document.getElementById(button.getAttribute("aria-controls") ?? "");
  expect(body?.textContent).toBe("the filters");
  expect(button.getAttribute("aria-expanded")).toBe("false");
  await userEvent.click(button);
  expect(button.getAttribute("aria-expanded")).toBe("true");
  expect(body?.closest(".filter-bar.open")).not.toBeNull();
  rerender(
    <FilterBar count={2}>
      <p>the filters</p>
    </FilterBar>,
  );
  expect(button.textContent).toBe("Filters (2)");
  expect(button.getAttribute("aria-expanded")).toBe("true");
  await userEvent.click(button);
  expect(body?.closest(".filter-bar.open")).toBeNull();
});
