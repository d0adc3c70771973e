import { useState } from "preact/hooks";
import { post } from "../../api/call";
import type { Device } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Field, Select } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { go, withQuery } from "../../router";
import { applyMessage, snapshot } from "../../state/fleet";
import { drop } from "../../state/responseCache";
import { Address } from "./Address";
import { doubtOf, isSame } from "./numbers";
import type { Tracker } from "./trackers";

interface SetUpProps {
  /** Null where only the number is known. */
  tracker: Tracker | null;
  trackers: readonly Tracker[];
  host: string;
  /** The number that is known already. */
  uniqueId: string;
}

/** The second step: the vehicle here, and what is set in the tracker. */
export function SetUp({ tracker, trackers, host, uniqueId }: SetUpProps) {
  const [number, setNumber] = useState(uniqueId);
  const [name, setName] = useState("");
  const [phone, setPhone] = useState("");
  const [model, setModel] = useState("");
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const kind = tracker?.number ?? null;
  const doubt = doubtOf(number, kind);
  const wait = (id: number) =>
    go(withQuery("/connect", { protocol: tracker?.name ?? null, deviceId: String(id) }));

  async function add() {
    const wanted = number.trim();
    const there = snapshot(true).find(({ device }) => isSame(device.uniqueId, wanted))?.device;
    if (there) return wait(there.id);
    setBusy(true);
    setSaid("");
    try {
      const body = {
        name: name.trim() || wanted,
        uniqueId: wanted,
        phone: phone.trim() || null,
        ...(model && { model }),
      };
      const made = await post<Device>("/devices", body);
      applyMessage({ devices: [made] });
      drop("/devices");
      wait(made.id);
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
    return undefined;
  }

  const there = number.trim()
    ? snapshot(true).find(({ device }) => isSame(device.uniqueId, number))
    : undefined;
  return (
    <form
      class="connect-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (number.trim() && !busy) void add();
      }}
    >
      <section class="card" aria-labelledby="connect-here">
        <h2 id="connect-here">
          {tracker ? t("connect.tracker", { title: tracker.title }) : t("connect.vehicle")}
        </h2>
        <Field
          label={t(`connect.number.${kind ?? "any"}`)}
          hint={doubt ? t(`connect.doubt.${doubt}`) : t(`connect.hint.${kind ?? "any"}`)}
          required
          maxLength={128}
          autocomplete="off"
          inputMode={kind === "imei" || kind === "phone" ? "numeric" : "text"}
          value={number}
          onInput={(event: { currentTarget: HTMLInputElement }) => setNumber(event.currentTarget.value)}
        />
        <Field
          label={t("connect.name")}
          hint={t("connect.nameHint")}
          maxLength={128}
          autocomplete="off"
          value={name}
          onInput={(event: { currentTarget: HTMLInputElement }) => setName(event.currentTarget.value)}
        />
        {tracker && tracker.dialects.length > 0 && (
          <Select
            label={t("connect.model")}
            hint={t("connect.modelHint")}
            value={model}
            choices={[
              { value: "", label: t("connect.otherModel") },
              ...tracker.dialects.map((each) => ({ value: each, label: each })),
            ]}
            onChange={setModel}
            translate={false}
          />
        )}
      </section>
      <Address tracker={tracker} trackers={trackers} host={host} phone={phone} onPhone={setPhone} />
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <div class="connect-end">
        <button type="submit" class="primary" disabled={busy || !number.trim()}>
          {there ? t("connect.waitFor", { name: there.device.name }) : t("connect.add")}
        </button>
        <Link class="button" to="/connect">
          {t("connect.other")}
        </Link>
      </div>
    </form>
  );
}
