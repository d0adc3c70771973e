import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Event } from "../../api/types";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device, isComplete, position } from "../../state/fleet";
import { may } from "../../state/session";
import { now } from "../../time/clock";
import { cameraNumber } from "../../video/cameraNames";
import { camerasOf } from "../../video/channels";
import { clockOf, spanOfCamera } from "../../video/recorded/clock";
import { cancelFootage, requestFootage } from "../../video/recorded/footage";
import { filmName, KeptFilm, SentFile } from "./ProofFiles";
import { camerasWithout, FILM_AFTER_MS, type Film, type FilmState, filmSpan } from "./proof";
import type { Films } from "./useFilms";
import type { Proof } from "./useProof";
import type { Tickets } from "./useTickets";

interface ProofEvidenceProps {
  proof: Proof;
  films: Films;
  tickets: Tickets;
  /** Called with the instants that a film shows, in milliseconds since 1970. */
  onAt: (at: number) => void;
}

const WORDS = {
  waiting: "event.filmWaiting",
  fetching: "event.filmFetching",
  kept: "event.filmComplete",
  failed: "event.filmFailed",
  expired: "event.filmExpired",
} as const satisfies Record<FilmState, string>;

/** Films and pictures of an event, with size and checksum, and those that can be fetched. */
export function ProofEvidence({ proof, films, tickets, onAt }: ProofEvidenceProps) {
  const { event, files, uniqueId } = proof;
  const { deviceId } = event;
  const of = { deviceId, uniqueId, tickets };
  const known = films.films ?? [];
  const kept = known.filter(({ state }) => state === "kept").length;
  // A film that came may be in a ticket by now.
  const before = useRef(kept);
  useEffect(() => {
    if (kept !== before.current) tickets.reload();
    before.current = kept;
  }, [kept, tickets.reload]);
  return (
    <section class="proof-section proof-evidence" aria-label={t("event.shows")}>
      <h2>{t("event.shows")}</h2>
      {films.problem !== null && <Problem problem={films.problem} onRetry={films.reload} />}
      {(kept > 0 || files.length > 0) && (
        <div class="proof-strip">
          {files.map((file) => (
            <SentFile key={file.name} of={file} eventAt={Date.parse(event.eventTime)} {...of} />
          ))}
          {known.map(
            (film) =>
              film.state === "kept" &&
              film.fileName && <KeptFilm key={film.fileName} of={film} onAt={onAt} {...of} />,
          )}
        </div>
      )}
      {files.length === 0 && <p class="faint">{t("event.noPictures")}</p>}
      {known.map(
        (film) =>
          (film.state !== "kept" || !film.fileName) && (
            <Coming
              key={`${film.channel} ${film.request?.id} ${film.captureId}`}
              deviceId={deviceId}
              film={film}
            />
          ),
      )}
      {films.films && <Fetch event={event} films={films.films} onAt={onAt} />}
    </section>
  );
}

/** A film that is not here: why, and a way to take it back. */
function Coming({ deviceId, film }: { deviceId: number; film: Film }) {
  const { request } = film;
  return (
    <p class="proof-coming" role="status">
      <strong>{filmName(deviceId, film)}</strong>
      <span>{t(WORDS[film.state])}</span>
      {film.reason && <span class="faint">{film.reason}</span>}
      {request && may("video") && (
        <button type="button" class="quiet" onClick={() => attempt(cancelFootage(request))}>
          {t("event.cancelFilm")}
        </button>
      )}
    </p>
  );
}

/** Say why something did not work. */
function attempt(act: Promise<unknown>): void {
  act.catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
}

/** A button for each camera of which there is no film, and the player of what the vehicle has. */
function Fetch({ event, films, onAt }: { event: Event; films: readonly Film[]; onAt: (at: number) => void }) {
  const found = device(event.deviceId).value;
  const cameras = found ? camerasOf(found, position(event.deviceId).value) : [];
  const rest = camerasWithout(cameras, films);
  const at = Date.parse(event.eventTime);
  if (!may("video")) return null;
  if (cameras.length === 0) {
    const hasNone = films.length === 0 && isComplete(event.deviceId);
    return hasNone ? <p class="faint">{t("live.noCamerasText")}</p> : null;
  }
  if (now.value < at + FILM_AFTER_MS + 1000) return <p class="faint">{t("event.fetchSoon")}</p>;
  return (
    <>
      {rest.length > 0 && (
        <div class="button-row proof-fetch">
          {rest.map((camera) => (
            <button
              key={camera}
              type="button"
              onClick={() => {
                const span = spanOfCamera(filmSpan(at), clockOf(found, camera), now.peek());
                attempt(requestFootage(event.deviceId, camera, span));
              }}
            >
              <Icon name="download" size={18} />
              {t("event.fetchOf", { channel: cameraNumber(event.deviceId, camera) })}
            </button>
          ))}
          <small class="faint">{t("event.fetchNote")}</small>
        </div>
      )}
      <Player deviceId={event.deviceId} at={at} onAt={onAt} />
    </>
  );
}

interface PlayerProps {
  deviceId: number;
  at: number;
  onAt: (at: number) => void;
}

/** The film around the event as the vehicle has it; loaded when it is wanted. */
function Player(of: PlayerProps) {
  const [Film, setFilm] = useState<ComponentType<PlayerProps> | null>(null);
  if (Film) {
    return (
      <div class="proof-player">
        <Film {...of} />
      </div>
    );
  }
  const load = async () => {
    const { EventFilm } = await import("../../video/recorded/EventFilm");
    setFilm(() => EventFilm);
  };
  return (
    <div class="button-row">
      <button type="button" class="quiet" onClick={() => attempt(load())}>
        <Icon name="play" size={18} />
        {t("event.watch")}
      </button>
    </div>
  );
}
