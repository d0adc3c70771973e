import { useId, useState } from "preact/hooks";
import { remove } from "../../../api/call";
import { dateTime } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Field } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { Question } from "../../../parts/Question";
import { toast } from "../../../parts/Toast";
import { style } from "../../../state/session";
import { instantOfLocal } from "./values";

/** Deletes the positions of a span, such as of somebody who may not be followed, after a question. */
export function DeletePositions({ id, name }: { id: number; name: string }) {
  const heading = useId();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [asking, setAsking] = useState(false);
  const look = style.value;
  const [first, last] = [from, to].map((each) => instantOfLocal(each, look.zone));
  const isSpan = Boolean(first && last && first < last);
  const said = (instant: string | null | undefined) => dateTime(Date.parse(instant ?? ""), look);
  const field = (label: string, value: string, set: (text: string) => void) => (
    <Field
      label={label}
      type="datetime-local"
      hint={t("common.zone", { zone: look.zone.replace(/_/g, " ") })}
      value={value}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>{t("settings.positions")}</h2>
      <p class="card-text">{t("settings.positionsText")}</p>
      <div class="form-grid">
        {field(t("time.from"), from, setFrom)}
        {field(t("time.to"), to, setTo)}
      </div>
      <div class="button-row">
        <button type="button" class="dangerous" disabled={!isSpan} onClick={() => setAsking(true)}>
          <Icon name="trash" size={16} />
          {t("settings.deletePositions")}
        </button>
      </div>
      {asking && (
        <Question
          title={t("settings.deletePositionsTitle", { name })}
          text={t("settings.deletePositionsText", { from: said(first), to: said(last) })}
          act={t("common.delete")}
          run={async () => {
            await remove(
              `/positions?${new URLSearchParams({ deviceId: `${id}`, from: first ?? "", to: last ?? "" })}`,
            );
            toast(t("settings.positionsDeleted"));
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
