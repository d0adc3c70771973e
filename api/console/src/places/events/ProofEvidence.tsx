import { useEffect, useRef } from "preact/hooks";
import type { Event } from "../../api/types";
import { t } from "../../i18n/translate";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device, position } from "../../state/fleet";
import { may } from "../../state/session";
import { now } from "../../time/clock";
import { camerasOf } from "../../video/channels";
import { filmName, KeptFilm, SentFile } from "./ProofFiles";
import { camerasWithout, FILM_AFTER_MS, type Film, type FilmState } from "./proof";
import { cancelFilm, type Films, fetchFilm } from "./useFilms";
import type { Proof } from "./useProof";
import type { Tickets } from "./useTickets";

interface ProofEvidenceProps {
  proof: Proof;
  films: Films;
  tickets: Tickets;
}

const WORDS = {
  waiting: "event.filmWaiting",
  fetching: "event.filmFetching",
  kept: "event.filmComplete",
  failed: "event.filmFailed",
  expired: "event.filmExpired",
} as const satisfies Record<FilmState, string>;

/** Films and pictures of an event, with size and checksum, and those that can be fetched. */
export function ProofEvidence({ proof: { event, files, uniqueId }, films, tickets }: ProofEvidenceProps) {
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
    <>
      <section class="proof-section" aria-label={t("event.video")}>
        <h2>{t("event.video")}</h2>
        {films.problem !== null && <Problem problem={films.problem} onRetry={films.reload} />}
        {known.map((film) =>
          film.state === "kept" && film.fileName ? (
            <KeptFilm key={film.fileName} of={film} {...of} />
          ) : (
            <Coming
              key={`${film.channel} ${film.requestId} ${film.captureId}`}
              film={film}
              reload={films.reload}
            />
          ),
        )}
        {films.films && <Fetch event={event} films={films} />}
      </section>
      <section class="proof-section" aria-label={t("event.pictures")}>
        <h2>{t("event.pictures")}</h2>
        {files.length === 0 && <p class="faint">{t("event.noPictures")}</p>}
        {files.map((file) => (
          <SentFile key={file.name} of={file} {...of} />
        ))}
      </section>
    </>
  );
}

/** A film that is not here: why, and a way to take it back. */
function Coming({ film, reload }: { film: Film; reload: () => void }) {
  const { requestId } = film;
  async function cancel(id: number) {
    await cancelFilm(id).catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
    reload();
  }
  return (
    <p class="proof-coming" role="status">
      <strong>{filmName(film)}</strong>
      <span>{t(WORDS[film.state])}</span>
      {film.reason && <span class="faint">{film.reason}</span>}
      {requestId !== null && (
        <button type="button" class="quiet" onClick={() => void cancel(requestId)}>
          {t("event.cancelFilm")}
        </button>
      )}
    </p>
  );
}

/** A button for each camera of which there is no film. */
function Fetch({ event, films }: { event: Event; films: Films }) {
  const found = device(event.deviceId).value;
  const cameras = found ? camerasOf(found, position(event.deviceId).value) : [];
  const rest = camerasWithout(cameras, films.films ?? []);
  if (rest.length === 0 || !may("edit") || !may("command")) return null;
  if (now.value < Date.parse(event.eventTime) + FILM_AFTER_MS + 1000) {
    return <p class="faint">{t("event.fetchSoon")}</p>;
  }
  async function fetchOne(camera: number) {
    await fetchFilm(event, camera).catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
    films.reload();
  }
  return (
    <div class="button-row proof-fetch">
      {rest.map((camera) => (
        <button
          key={camera}
          type="button"
          title={t("event.fetchText", { channel: camera })}
          onClick={() => void fetchOne(camera)}
        >
          {t("event.fetchOf", { channel: camera })}
        </button>
      ))}
      <small class="faint">{t("event.fetchNote")}</small>
    </div>
  );
}
