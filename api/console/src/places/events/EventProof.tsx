import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { address, Problem as Refused } from "../../api/call";
import { dateTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { copy } from "../../parts/copy";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go } from "../../router";
import { device, position } from "../../state/fleet";
import { reviewOf } from "../../state/reviews";
import { may, style } from "../../state/session";
import { AttachTicket } from "../../tickets/AttachTicket";
import { historyAt, vehicleActs } from "../vehicle/acts";
import { StatusMark } from "../vehicle/StatusMark";
import { nameOf, VehicleLink } from "./EventRow";
import { eventText, iconOf, type Names, toneOf } from "./eventText";
import { ProofEvidence } from "./ProofEvidence";
import { ProofMap } from "./ProofMap";
import { MakeTicket, ProofTickets } from "./ProofTickets";
import { ProofValues } from "./ProofValues";
import { ReviewBar } from "./ReviewBar";
import { useFilms } from "./useFilms";
import { type Proof, useProof } from "./useProof";
import { evidenceOf, useTickets } from "./useTickets";
import { useZoneNames } from "./zoneNames";
import "../vehicle/vehicle.css";
import "./events.css";
import "./proof.css";

const OPEN: ReadonlySet<string> = new Set(["new", "open", "pending"]);

/** The proof of an event on one page: where, values, pictures, film, tickets. */
export default function EventProof({ params }: { params: Record<string, string> }) {
  const proof = useProof(Number(params.id) || 0);
  const zones = useZoneNames();
  useKeys("event", { back: () => go("/events") });
  const text = proof.value ? eventText(proof.value.event, zones, style.value) : t("event.title");
  useEffect(() => {
    document.title = `${text} · Motorpool`;
  }, [text]);
  const missing = proof.problem instanceof Refused && [400, 404].includes(proof.problem.status);
  if (missing) {
    return (
      <Empty icon="events" title={t("event.missing")}>
        <Link class="button" to="/events">
          {t("event.toEvents")}
        </Link>
      </Empty>
    );
  }
  if (proof.problem) return <Problem problem={proof.problem} onRetry={proof.reload} />;
  if (!proof.value) return <Skeleton label={t("common.loading")} lines={8} />;
  return <Page key={proof.value.event.id} proof={proof.value} zones={zones} />;
}

function Page({ proof, zones }: { proof: Proof; zones: Names }) {
  const { event, around, track, files } = proof;
  const films = useFilms(event);
  const tickets = useTickets(event);
  const [choosing, setChoosing] = useState(false);
  /** The instant that a film shows, in milliseconds since 1970. */
  const shown = useMemo(() => signal<number | null>(null), []);
  const onAt = useCallback(
    (at: number) => {
      shown.value = at;
    },
    [shown],
  );
  // One that is open is the answer already.
  const answered = tickets.kept.some(({ ticket }) => OPEN.has(ticket.statusKind));
  const name = nameOf(event.deviceId);
  const makeTicket = (companyId: number) =>
    tickets.make(
      companyId,
      t("event.subject", { event: eventText(event, zones, style.value), name }),
      evidenceOf(event.deviceId, files, films.films ?? []),
    );
  useKeys("event", {
    ticket: () => {
      if (answered) return false;
      const [only, second] = tickets.companies ?? [];
      if (second) setChoosing(true);
      else if (only) makeTicket(only.id);
      return only !== undefined;
    },
  });
  return (
    <article class="proof">
      <Head proof={proof} zones={zones}>
        {!answered && (
          <MakeTicket
            isFirst={!(may("review") && reviewOf(event)?.state === "OPEN")}
            tickets={tickets}
            onMake={makeTicket}
            choosing={choosing}
            onChoose={setChoosing}
          />
        )}
        <AttachTicket
          deviceId={event.deviceId}
          evidence={{
            ...evidenceOf(event.deviceId, files, films.films ?? []),
            positionId: event.positionId,
          }}
          onAdded={tickets.reload}
        />
      </Head>
      <ReviewBar event={event} />
      {around === null && <p class="proof-note">{t("event.noHistory")}</p>}
      <div class="proof-first">
        <ProofEvidence proof={proof} films={films} tickets={tickets} onAt={onAt} />
        {around && <ProofMap event={event} track={track} at={around.then} shown={shown} />}
      </div>
      <ProofTickets kept={tickets.kept} />
      {around && (
        <section class="proof-section">
          <ProofValues around={around} />
        </section>
      )}
    </article>
  );
}

interface HeadProps {
  proof: Proof;
  zones: Names;
  /** The first of what can be done. */
  children: ComponentChildren;
}

function Head({ proof: { event }, zones, children }: HeadProps) {
  const at = Date.parse(event.eventTime);
  const found = device(event.deviceId).value;
  const act = (key: string) => vehicleActs().find((each) => each.key === key);
  const [live, command, history] = [act("live"), act("commands"), act("history")];
  useKeys("event", {
    command: () => {
      if (command) go(command.to(event.deviceId));
      return command !== undefined;
    },
  });
  return (
    <header class="proof-head">
      <Link to="/events" class="icon-button" aria-label={t("event.back")} title={t("event.back")}>
        <Icon name="back" />
      </Link>
      <h1 class={toneOf(event)}>
        <Icon name={iconOf(event)} />
        {eventText(event, zones, style.value)}
      </h1>
      <p class="proof-when">
        <VehicleLink id={event.deviceId} at={at} />
        {found && <StatusMark of={found} at={position(event.deviceId).value} />}
        <time dateTime={event.eventTime}>
          {t("event.when.local", {
            time: dateTime(at, style.value),
            zone: style.value.zone.replace(/_/g, " "),
          })}
        </time>
        {style.value.zone !== "UTC" && <span class="proof-utc">{utc(at)}</span>}
      </p>
      <div class="button-row proof-acts">
        {children}
        {live && (
          <Link class="button" to={live.to(event.deviceId)}>
            <Icon name="camera" size={18} />
            {t("event.live")}
          </Link>
        )}
        {history && (
          <Link class="button" to={historyAt(event.deviceId, at)}>
            <Icon name="history" size={18} />
            {t("event.history")}
          </Link>
        )}
        {command && (
          <Link class="button" to={command.to(event.deviceId)}>
            <Icon name="command" size={18} />
            {t("event.command")}
          </Link>
        )}
        {may("reports") && (
          <a class="button" href={address(`/events/${event.id}/evidence.zip`)} download>
            <Icon name="download" size={18} />
            {t("event.downloadAll")}
          </a>
        )}
        <button type="button" onClick={() => copy(window.location.href)}>
          <Icon name="link" size={18} />
          {t("event.copyLink")}
        </button>
        <button type="button" onClick={() => window.print()}>
          <Icon name="download" size={18} />
          {t("event.print")}
        </button>
      </div>
    </header>
  );
}
