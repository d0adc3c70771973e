import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, getCounted } from "../../api/call";
import type { DueMaintenance, Ticket, Overview as Use } from "../../api/types";
import { duration } from "../../format/times";
import { distance, number } from "../../format/units";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { location, withQuery } from "../../router";
import { loaded, snapshot } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { moreWait, waitingCount } from "../../state/reviews";
import { may, style } from "../../state/session";
import { beginWith, startPage } from "../../state/startPage";
import { useBeat } from "../fleet/useBeat";
import { STATES } from "../fleet/vehicleState";
import { change, changeText } from "../reports/cells";
import { NO_FILTERS, addressOf as ticketsAddress } from "../tickets/filters";
import { countStates, silentCameras } from "./figures";
import "./overview.css";

const YESTERDAY = { from: "now-1d/d", to: "now-1d/d" };
const WEEK_DAYS = 7;
/** Without news the states of vehicles are looked at this often. */
const QUIET_MS = 10_000;
/** Vehicles that are listed. */
const LISTED = 100;

/** What a fleet manager looks at in the morning; each figure leads to what it counts. */
export default function Overview() {
  const beat = useBeat(QUIET_MS);
  const vehicles = useMemo(() => snapshot(), [beat, loaded.value]);
  const states = useMemo(() => countStates(vehicles, Date.now()), [vehicles]);
  const cameras = useMemo(() => silentCameras(vehicles, Date.now()), [vehicles]);
  const look = style.value;
  const seesPast = may("reports");
  const isListed = location.value.query.get("show") === "cameras";
  useEffect(() => {
    document.title = `${t("overview.title")} · Motorpool`;
  }, []);
  return (
    <div class="page overview">
      <header class="overview-head">
        <h1>{t("overview.title")}</h1>
        <StartPage />
      </header>
      <Card title={t("overview.now")}>
        {!loaded.value && <Skeleton label={t("common.loading")} lines={2} />}
        {loaded.value && (
          <dl>
            {STATES.filter((state) => states[state] > 0 || state === "moving" || state === "standing").map(
              (state) => (
                <Figure
                  key={state}
                  label={t(`status.${state}`)}
                  note={t(`status.about.${state}`)}
                  value={number(states[state], 0, look)}
                  to={withQuery("/fleet", { status: state })}
                />
              ),
            )}
          </dl>
        )}
      </Card>
      <Card title={t("overview.waiting")}>
        <dl>
          {seesPast && (
            <Figure
              label={t("overview.alarms")}
              value={`${number(waitingCount.value, 0, look)}${moreWait.value ? "+" : ""}`}
              to="/events"
              isBad={waitingCount.value > 0}
            />
          )}
          <DueNow />
          {may("token") && <LateTickets />}
          {loaded.value && (
            <Figure
              label={t("overview.cameras")}
              value={number(cameras.length, 0, look)}
              to={isListed ? "/overview" : "/overview?show=cameras"}
              isBad={cameras.length > 0}
            />
          )}
        </dl>
        {isListed && (
          <ul class="overview-list" aria-label={t("overview.cameras")}>
            {cameras.length === 0 && <li>{t("overview.noneSilent")}</li>}
            {cameras.slice(0, LISTED).map(({ device, lost, state }) => (
              <li key={device.id}>
                <Link to={`/vehicles/${device.id}/live`}>{device.name}</Link>
                <span class="faint">
                  {lost.length > 0
                    ? t("overview.lost", {
                        cameras: new Intl.ListFormat(look.language).format(lost.map(String)),
                      })
                    : t(`status.${state}`)}
                </span>
              </li>
            ))}
            {cameras.length > LISTED && <li>{t("overview.more", { count: cameras.length - LISTED })}</li>}
          </ul>
        )}
      </Card>
      {seesPast && <Yesterday />}
    </div>
  );
}

/** Maintenance of the reader's vehicles that is due now. */
function DueNow() {
  const { value } = useLoaded("due maintenance", (signal) =>
    getCounted<DueMaintenance>("/maintenance/due", { state: "due", limit: 1 }, signal),
  );
  if (!value) return null;
  return (
    <Figure
      label={t("overview.maintenance")}
      value={number(value.total, 0, style.value)}
      to="/admin/maintenance"
      isBad={value.total > 0}
    />
  );
}

/** Tickets of all that the reader may see whose targets are missed. */
function LateTickets() {
  const query = { overdue: true, open: true, limit: 1, excludeAttributes: true };
  const { value } = useLoaded("late tickets", (signal) => getCounted<Ticket>("/tickets", query, signal));
  if (!value) return null;
  return (
    <Figure
      label={t("overview.tickets")}
      value={number(value.total, 0, style.value)}
      to={ticketsAddress({ ...NO_FILTERS, overdue: true })}
      isBad={value.total > 0}
    />
  );
}

/** Distance, hours and vehicles of the day that is over, beside a day of the week before. */
function Yesterday() {
  const look = style.value;
  const { value, problem, reload } = useLoaded(`overview ${look.zone}`, (signal) =>
    get<Use>("/reports/overview", { timezone: look.zone }, signal),
  );
  const report = (kind: string) => withQuery(`/reports/${kind}`, { ...YESTERDAY, against: "week" });
  return (
    <Card title={t("overview.yesterday")} note={t("overview.yesterdayText")}>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={2} />}
      {value && (
        <dl>
          <Figure
            label={t("overview.distance")}
            value={distance(value.yesterday.distance, look)}
            to={report("summary")}
            note={besides(value.yesterday.distance, value.weekBefore.distance, (each) =>
              distance(each, look),
            )}
          />
          <Figure
            label={t("overview.hours")}
            value={duration(value.yesterday.engineHours, look)}
            to={report("utilisation")}
            note={besides(value.yesterday.engineHours, value.weekBefore.engineHours, (each) =>
              duration(each, look),
            )}
          />
          <Figure
            label={t("overview.drove")}
            value={number(value.yesterday.devices, 0, look)}
            to={report("trips")}
          />
        </dl>
      )}
    </Card>
  );
}

/** What a day of the week before had on average, and how this one differs. */
function besides(day: number, week: number, text: (value: number) => string): string {
  const mean = week / WEEK_DAYS;
  return t("overview.weekBefore", {
    value: text(mean),
    change: changeText(change(day, mean), style.value),
  });
}

/** Begin with this page, or with the fleet. */
function StartPage() {
  const [busy, setBusy] = useState(false);
  if (!may("edit")) return null;
  const isStart = startPage() === "/overview";
  async function choose() {
    setBusy(true);
    try {
      await beginWith(isStart ? "/fleet" : "/overview");
      toast(t(isStart ? "overview.startsFleet" : "overview.startsHere"));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    } finally {
      setBusy(false);
    }
  }
  return (
    <button type="button" class="quiet" disabled={busy} onClick={() => void choose()}>
      {t(isStart ? "overview.startFleet" : "overview.startHere")}
    </button>
  );
}

function Card({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {note && <p class="faint">{note}</p>}
      {children}
    </section>
  );
}

interface FigureProps {
  label: string;
  value: string;
  to: string;
  note?: string;
  isBad?: boolean;
}

function Figure({ label, value, to, note, isBad = false }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={isBad ? "bad" : ""}>
        <Link to={to} aria-label={`${label}: ${value}`}>
          {value}
        </Link>
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}
