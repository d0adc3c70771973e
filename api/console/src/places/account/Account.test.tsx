import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { FakeServer, refusal } from "../../testing/server";

test("another telephone number is saved with the current password", async () => {
  const server = new FakeServer();
  const bodies: Record<string, unknown>[] = [];
  const user = server.user;
  if (!user) throw new Error("nobody is logged in");
  server.answer("getUser", () => user);
  server.answer("updateUser", ({ body }) => {
    const sent = body as Record<string, unknown>;
    bodies.push(sent);
    if (sent.phone && sent.currentPassword !== "secret") {
      return refusal(400, "currentPassword: needed to change phone; or log in again and try once more");
    }
    return { ...user, phone: sent.phone ? String(sent.phone) : null };
  });
  const page = await openPage("/account", server);
  const form = await screen.findByRole("region", { name: "You" });
  const field = (name: string) => form.querySelector(`input[name=${name}]`) as HTMLInputElement;
  const save = () => page.user.click(form.querySelector("button[type=submit]") as HTMLButtonElement);
  await page.user.type(field("name"), " Ann");
  await save();
  await screen.findByText("Saved");
  await page.user.type(field("phone"), "+49 30 1");
  await save();
  await screen.findByText(/needed to change phone/);
  await page.user.type(field("currentPassword"), "secret");
  await save();
  await expect.poll(() => bodies.map((body) => body.currentPassword)).toEqual([null, null, "secret"]);
});
