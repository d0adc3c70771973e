import { type Sent, sentCommands } from "../../../commands/sentCommands";
import { clockSeconds } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Icon, type IconName } from "../../../parts/Icon";
import { sentenceOf } from "../../../parts/Problem";
import { style } from "../../../state/session";

const ICONS: Record<Sent["outcome"], IconName> = {
  sending: "next",
  sent: "check",
  kept: "pause",
  gone: "check",
  cancelled: "close",
  refused: "warning",
};

/** What was sent to a vehicle from this page, the newest first, each with the answers of the vehicle. */
export function Log({ id }: { id: number }) {
  const mine = sentCommands.value.filter((each) => each.deviceId === id);
  return (
    <section class="card" aria-labelledby="command-log">
      <h2 id="command-log">{t("command.log")}</h2>
      {mine.length === 0 && <p class="card-text">{t("command.logEmpty")}</p>}
      <ol class="command-log" aria-live="polite" aria-labelledby="command-log">
        {mine.map((each) => (
          <li key={each.id} class={each.outcome}>
            <Icon name={ICONS[each.outcome]} size={18} />
            <div>
              <p>
                <strong>{each.name}</strong> <small>{clockSeconds(each.at, style.value)}</small>
              </p>
              <p>{outcomeText(each)}</p>
              {each.replies.map((reply) => (
                <p key={`${reply.at} ${reply.text}`} class="command-reply">
                  {t("command.reply", { text: reply.text })}{" "}
                  <small>{clockSeconds(reply.at, style.value)}</small>
                </p>
              ))}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function outcomeText({ outcome, byText, problem }: Sent): string {
  if (byText) return t("command.sentByText");
  if (outcome === "refused") return t("command.refused", { reason: sentenceOf(problem) });
  return t(`command.${outcome}`);
}
