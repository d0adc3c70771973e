import { useState } from "preact/hooks";
import { get, getVersioned, post, put } from "../../api/call";
import type { NotificatorType, Server } from "../../api/types";
import { t } from "../../i18n/translate";
import { channelName } from "../../notifications/channels";
import { Field, Select } from "../../parts/Field";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { ManyPicker } from "../../records/ManyPicker";
import { showAnnouncement } from "../../state/announcement";
import { useLoaded } from "../../state/responseCache";
import { may, server } from "../../state/session";
import { AdminPlace } from "../admin/AdminPlace";
import { AnnouncementText } from "../frame/AnnouncementBar";
import { nameOf, useUsers } from "../people/users";
import "./upkeep.css";

const MOST_CHARACTERS = 1000;
const MOST_OF_MESSAGE = 10_000;

/** What all pages show, and messages to many. */
export default function Announcement() {
  return (
    <AdminPlace to="/admin/announcement">
      {may("administer") && <OnPages />}
      <Message />
    </AdminPlace>
  );
}

function OnPages() {
  const stored = server.value?.announcement ?? "";
  const [edited, setEdited] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const text = edited ?? stored;

  async function save(words: string | null) {
    setBusy(true);
    setSaid("");
    try {
      // Of the settings of the server only this one is ours.
      const { value, version } = await getVersioned<Server>("/server");
      const saved = await put<Server>("/server", { ...value, announcement: words }, version);
      showAnnouncement(saved.announcement);
      setEdited(null);
      toast(t(saved.announcement ? "upkeep.shown" : "upkeep.takenDown"));
    } catch (problem) {
      setSaid(sentenceOf(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section class="card" aria-labelledby="upkeep-on-pages">
      <h2 id="upkeep-on-pages">{t("upkeep.onPages")}</h2>
      <p class="card-text">{t("upkeep.onPagesText")}</p>
      <form
        class="upkeep-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save(text.trim() || null);
        }}
      >
        <Words id="upkeep-announcement" rows={3} value={text} most={MOST_CHARACTERS} onInput={setEdited} />
        {text.trim() && (
          <div>
            <p class="faint">{t("upkeep.preview")}</p>
            <div class="upkeep-preview">
              <AnnouncementText text={text.trim()} />
            </div>
          </div>
        )}
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
        <div class="button-row">
          <button
            type="submit"
            class="primary"
            disabled={busy || text.trim() === stored.trim() || text.trim() === ""}
          >
            {t("upkeep.publish")}
          </button>
          {stored && (
            <button type="button" disabled={busy} onClick={() => void save(null)}>
              {t("upkeep.takeDown")}
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

function Message() {
  const ways = useLoaded("announcement notificators", (signal) =>
    get<readonly NotificatorType[]>("/notifications/notificators", { announcement: true }, signal),
  );
  const users = (useUsers().value ?? []).filter((user) => !user.temporary);
  const [way, setWay] = useState("");
  const [subject, setSubject] = useState("");
  const [body, setBody] = useState("");
  const [to, setTo] = useState<readonly number[]>([]);
  const [asked, setAsked] = useState(false);
  const chosen = way || ways.value?.[0]?.type || "";
  const by = channelName(chosen);
  return (
    <section class="card" aria-labelledby="upkeep-message">
      <h2 id="upkeep-message">{t("upkeep.message")}</h2>
      <p class="card-text">{t("upkeep.messageText")}</p>
      {ways.problem !== null && <Problem problem={ways.problem} onRetry={ways.reload} />}
      {!ways.value && ways.problem === null && <Skeleton label={t("common.loading")} />}
      {ways.value && (
        <form
          class="upkeep-form"
          onSubmit={(event) => {
            event.preventDefault();
            setAsked(true);
          }}
        >
          <Select
            label={t("upkeep.way")}
            value={chosen}
            choices={ways.value.map(({ type }) => ({ value: type, label: channelName(type) }))}
            onChange={setWay}
          />
          <ManyPicker<number>
            label={t("upkeep.receivers")}
            items={users.map((user) => ({ id: user.id, name: nameOf(user), note: user.email }))}
            values={to}
            none={t("upkeep.allReceivers")}
            disabled={false}
            onChange={setTo}
          />
          <Field
            label={t("upkeep.subject")}
            value={subject}
            maxLength={200}
            onInput={(event) => setSubject(event.currentTarget.value)}
          />
          <Words id="upkeep-message-words" rows={5} value={body} most={MOST_OF_MESSAGE} onInput={setBody} />
          <div class="button-row">
            <button type="submit" class="primary" disabled={body.trim() === ""}>
              {t("upkeep.send")}
            </button>
          </div>
        </form>
      )}
      {asked && (
        <Question
          title={t("upkeep.sendTitle")}
          text={
            to.length > 0
              ? t("upkeep.sendTo", { count: to.length, way: by })
              : t("upkeep.sendToAll", { way: by })
          }
          act={t("upkeep.send")}
          run={async () => {
            const words = { body: body.trim(), ...(subject.trim() && { subject: subject.trim() }) };
            await post(`/notifications/send/${encodeURIComponent(chosen)}`, words, { userId: to });
            setBody("");
            setSubject("");
            toast(t("upkeep.sent"));
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}

interface WordsProps {
  id: string;
  rows: number;
  value: string;
  most: number;
  onInput: (text: string) => void;
}

function Words({ id, rows, value, most, onInput }: WordsProps) {
  return (
    <div class="field">
      <label for={id}>{t("upkeep.words")}</label>
      <textarea
        id={id}
        rows={rows}
        maxLength={most}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}
