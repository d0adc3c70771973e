import { useEffect, useState } from "preact/hooks";
import { get, type Query } from "../api/call";
import type { Calendar, Notification, NotificatorType } from "../api/types";
import { EVENT_TYPES } from "../format/kindTable";
import { compareNames, t } from "../i18n/translate";
import { Empty } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Skeleton } from "../parts/Late";
import { Problem, sentenceOf } from "../parts/Problem";
import { Question } from "../parts/Question";
import { toast } from "../parts/Toast";
import { EditButtons } from "../records/EditButtons";
import { changeRecord, deleteRecord } from "../records/records";
import { read, useLoaded } from "../state/responseCache";
import { may, session, style } from "../state/session";
import { useZones } from "../state/zones";
import { alarmNames, channelName, channelsOf, listOf, withChannels } from "./channels";
import { loadLinks } from "./links";
import { eventTypeName, NotificationDialog, personName, usePeople } from "./NotificationDialog";
import { hasOwnWords } from "./OwnWords";
import "./notifications.css";
import { sentText, tryNotification } from "./trial";

const PATH = "/notifications";
/** Notifications that are tried at once, and whose people are asked for. */
const MOST = 60;

interface NotificationTableProps {
  /** Which of them, as parameters of the request. */
  of: Query;
  /** Who gets a new one. */
  userId: number;
  /** Whether it is said whom each reaches. */
  withPeople: boolean;
  /** The one that is opened at once. */
  open?: number;
}

/** Events by rows, the ways that notifications go out by in columns. */
export function NotificationTable({ of, userId, withPeople, open = 0 }: NotificationTableProps) {
  const key = JSON.stringify(of);
  const { value, problem, reload } = useLoaded(`notifications ${key}`, (signal) =>
    get<readonly Notification[]>(PATH, of, signal),
  );
  const offered = useLoaded("notificators", (signal) =>
    get<readonly NotificatorType[]>("/notifications/notificators", undefined, signal),
  );
  const calendars = useLoaded("calendars", () => read<readonly Calendar[]>("/calendars"));
  const [edited, setEdited] = useState<Notification | "new" | null>(null);
  const [deleting, setDeleting] = useState<Notification | null>(null);
  const [tried, setTried] = useState<ReadonlyMap<number, string> | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const found = value?.find(({ id }) => id === open);
    if (found) setEdited(found);
  }, [open, value !== undefined]);
  const sorted = [...(value ?? [])].sort(
    (one, other) =>
      orderOf(one) - orderOf(other) ||
      compareNames(one.description ?? "", other.description ?? "") ||
      one.id - other.id,
  );
  const channels = [
    ...new Set([...(offered.value ?? []).map(({ type }) => type), ...sorted.flatMap(channelsOf)]),
  ];
  const mayEdit = may("edit");

  async function tryAll() {
    setBusy(true);
    const found = new Map<number, string>();
    for (const each of sorted.slice(0, MOST)) {
      try {
        const linked = await loadLinks(each.id);
        const trial = await tryNotification(each, linked, "yesterday");
        found.set(
          each.id,
          trial.events === 0 ? t("notification.nothing") : sentText(trial) || t("notification.sendsNone"),
        );
      } catch (reason) {
        found.set(each.id, sentenceOf(reason));
      }
      setTried(new Map(found));
    }
    setBusy(false);
  }
  const add = mayEdit && (
    <button type="button" class="primary" onClick={() => setEdited("new")}>
      <Icon name="plus" size={16} />
      {t("notification.new")}
    </button>
  );
  return (
    <>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={5} />}
      {value?.length === 0 && (
        <Empty icon="events" title={t("notification.none")} text={t("notification.noneText")}>
          {add}
        </Empty>
      )}
      {sorted.length > 0 && (
        <>
          <div class="button-row">
            {add}
            {may("reports") && (
              <button type="button" disabled={busy} onClick={() => void tryAll()}>
                {t(busy ? "notification.trying" : "notification.tryAll")}
              </button>
            )}
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways is reached by keyboard */}
          <section class="notification-table" tabIndex={0} aria-label={t("notification.title")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("notification.event")}</th>
                  {withPeople && <th scope="col">{t("notification.people")}</th>}
                  {channels.map((name) => (
                    <th key={name} scope="col" class="channel">
                      {channelName(name)}
                    </th>
                  ))}
                  {tried && <th scope="col">{t("notification.yesterday")}</th>}
                  {mayEdit && (
                    <th scope="col">
                      <span class="hidden">{t("notification.acts")}</span>
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {sorted.map((each, index) => (
                  <tr key={each.id}>
                    <th scope="row">
                      <What
                        notification={each}
                        calendar={calendars.value?.find(({ id }) => id === each.calendarId)}
                      />
                    </th>
                    {withPeople && <td>{index < MOST && <People id={each.id} />}</td>}
                    {channels.map((name) => (
                      <td key={name} class="channel">
                        <Switch notification={each} name={name} disabled={!mayEdit} onChanged={reload} />
                      </td>
                    ))}
                    {tried && <td>{tried.get(each.id) ?? "…"}</td>}
                    {mayEdit && (
                      <td>
                        <div class="button-row">
                          <EditButtons
                            name={eventTypeName(each.type)}
                            onEdit={() => setEdited(each)}
                            onDelete={() => setDeleting(each)}
                          />
                        </div>
                      </td>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
      {edited && (
        <NotificationDialog
          notification={edited === "new" ? null : edited}
          userId={userId}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            setTried(null);
            reload();
          }}
        />
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: eventTypeName(deleting.type) })}
          text={t("notification.deleteText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(PATH, deleting.id);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </>
  );
}

/** The place of its type among those of the palette of events. */
function orderOf({ type }: Notification): number {
  const at = EVENT_TYPES.indexOf(type as (typeof EVENT_TYPES)[number]);
  return at < 0 ? EVENT_TYPES.length : at;
}

function What({ notification, calendar }: { notification: Notification; calendar: Calendar | undefined }) {
  const { type, description, always, calendarId, attributes } = notification;
  const zones = useZones();
  const alarms = alarmNames(notification);
  const zoneIds = listOf(attributes.geofenceIds);
  const list = (names: readonly string[]) => new Intl.ListFormat(style.value.language).format(names);
  const severity = attributes.severity;
  const limits = [
    type === "alarm" && alarms.length > 0 && list(alarms.slice(0, 4)) + (alarms.length > 4 ? " …" : ""),
    type === "alarm" && alarms.length === 0 && !severity && t("notification.noAlarms"),
    (severity === "CRITICAL" || severity === "WARNING" || severity === "INFO") &&
      t(`notification.severity.${severity}`),
    zoneIds.length > 0 &&
      list(zoneIds.map((id) => zones?.find((zone) => String(zone.id) === id)?.name ?? id)),
    !always && t("notification.chosenVehicles"),
    hasOwnWords(notification) && t("notification.ownWords"),
    calendarId > 0 && (calendar?.name ?? t("calendar.hidden", { id: calendarId })),
  ].filter(Boolean);
  return (
    <>
      {eventTypeName(type)}
      {description && <small>{description}</small>}
      {limits.length > 0 && <small>{limits.join(" · ")}</small>}
    </>
  );
}

interface SwitchProps {
  notification: Notification;
  name: string;
  disabled: boolean;
  onChanged: () => void;
}

/** Whether it goes out by one of the ways; changed at once. */
function Switch({ notification, name, disabled, onChanged }: SwitchProps) {
  const [busy, setBusy] = useState(false);
  const names = channelsOf(notification);
  const on = names.includes(name);
  // A command has to be chosen first.
  const fixed = disabled || busy || (name === "command" && !on && !notification.commandId);
  async function change() {
    setBusy(true);
    try {
      await changeRecord<Notification>(PATH, notification.id, (now) => {
        const current = channelsOf(now);
        return withChannels(now, on ? current.filter((each) => each !== name) : [...current, name]);
      });
      onChanged();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }
  return (
    <button
      type="button"
      class="icon-button"
      aria-pressed={on}
      aria-label={t("notification.switch", {
        channel: channelName(name),
        event: eventTypeName(notification.type),
      })}
      disabled={fixed}
      onClick={() => void change()}
    >
      {on ? <Icon name="check" size={18} /> : <span class="notification-off" />}
    </button>
  );
}

/** Whom a notification reaches, as far as the reader sees them. */
function People({ id }: { id: number }) {
  const people = usePeople();
  const links = useLoaded(`people of ${id}`, () =>
    read<readonly { userId?: number }[]>("/permissions", { userId: 0, notificationId: id }),
  );
  if (!links.value) return <>…</>;
  const ids = links.value.flatMap(({ userId }) => userId ?? []);
  if (ids.length === 0) return <>{t("notification.nobody")}</>;
  const names = ids.slice(0, 3).map((each) => {
    const found = people.find((user) => user.id === each);
    return found ? personName(found) : each === session.value?.id ? personName(session.value) : String(each);
  });
  const more = ids.length - names.length;
  return <>{names.join(", ") + (more > 0 ? ` +${more}` : "")}</>;
}
