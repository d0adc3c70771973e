import { signal } from "@preact/signals";
import { t } from "../i18n/translate";
import { Icon } from "./Icon";

type Kind = "good" | "bad" | "news" | "alarm";

export interface ToastAct {
  label: string;
  run: () => void;
}

interface Shown {
  id: number;
  text: string;
  kind: Kind;
  acts: readonly ToastAct[];
}

const ICONS = { good: "check", bad: "warning", news: "events", alarm: "alarm" } as const;
const MOST = 4;
const SECONDS = 6;
/** What is urgent waits for somebody who is away from the desk for a moment. */
const ALARM_SECONDS = 60;
const shown = signal<readonly Shown[]>([]);
let last = 0;

/** Say shortly what was done, what failed (`bad`), what happened (`news`) or what is urgent (`alarm`), with acts such as Undo. */
export function toast(text: string, kind: Kind = "good", ...acts: readonly ToastAct[]): void {
  last += 1;
  const id = last;
  shown.value = [...shown.value, { id, text, kind, acts }].slice(-MOST);
  const seconds = kind === "alarm" ? ALARM_SECONDS : acts.length > 0 ? 2 * SECONDS : SECONDS;
  setTimeout(() => drop(id), seconds * 1000);
}

function drop(id: number): void {
  shown.value = shown.value.filter((each) => each.id !== id);
}

/** Where toasts appear; once on the page. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, text, kind, acts }) => (
        <div key={id} class={`toast ${kind}`} role={kind === "alarm" ? "alert" : undefined}>
          <Icon name={ICONS[kind]} />
          <span>{text}</span>
          {acts.map((act) => (
            <button
              key={act.label}
              type="button"
              class="link"
              onClick={() => {
                drop(id);
                act.run();
              }}
            >
              {act.label}
            </button>
          ))}
          <button type="button" class="icon-button" aria-label={t("common.close")} onClick={() => drop(id)}>
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
