import { useId, useRef, useState } from "preact/hooks";
import type { Calendar } from "../api/types";
import { t } from "../i18n/translate";
import { NameField } from "../records/EditFields";
import type { Edit } from "../records/RecordDialog";
import { BlockFields } from "./BlockFields";
import { areWhole, type Blocks, blocksOf, calendarText, decoded, encoded } from "./blocks";
import "./calendars.css";
import { WeekPicture } from "./DaysPicture";
import { ExceptionFields } from "./ExceptionFields";
import { ZonePicker } from "./ZonePicker";
import { zoneOf } from "./zoneOf";

interface CalendarFieldsProps {
  edit: Edit<Calendar>;
  /** The zone of its times cannot be chosen here. */
  fixedZone?: boolean;
}

/**
 * The fields of a calendar: its text as blocks, or as text where it says more than blocks can. Blocks that are not
 * whole leave `data` empty, so that they cannot be saved.
 */
export function CalendarFields({ edit, fixedZone = false }: CalendarFieldsProps) {
  const { value, set, disabled } = edit;
  // What is typed may not be whole yet; what another edit brings is read anew.
  const typed = useRef(read(value.data));
  if (typed.current.data !== value.data) typed.current = read(value.data);
  const { blocks } = typed.current;
  const [asText, setAsText] = useState(false);

  const change = (part: Partial<Blocks>) => {
    if (!blocks) return;
    const changed = { ...blocks, ...part };
    const data = areWhole(changed) ? encoded(calendarText(changed)) : "";
    typed.current = { data, blocks: changed };
    set({ data });
  };
  const isText = blocks === null || asText;
  const zone = zoneOf(value);
  return (
    <>
      <NameField edit={edit} />
      {isText ? (
        <CalendarText
          edit={edit}
          says={t(blocks === null ? "calendar.saysMore" : "calendar.textHint")}
          onTyped={() => setAsText(true)}
        />
      ) : (
        <>
          <BlockFields
            blocks={blocks.blocks}
            least={0}
            disabled={disabled}
            onChange={(changed) => change({ blocks: changed })}
          />
          <h3>{t("calendar.exceptions")}</h3>
          <ExceptionFields
            exceptions={blocks.exceptions}
            zone={zone}
            closable={blocks.blocks.length > 0}
            disabled={disabled}
            onChange={(exceptions) => change({ exceptions })}
          />
          {!fixedZone && (
            <ZonePicker
              value={blocks.zone}
              noneLabel={t("calendar.zoneOfServer")}
              disabled={disabled}
              onChange={(chosen) => change({ zone: chosen })}
            />
          )}
          {!value.data && <p class="field-hint">{t("calendar.notWhole")}</p>}
        </>
      )}
      {blocks !== null && value.data && (
        <p>
          <button type="button" class="link" disabled={disabled} onClick={() => setAsText(!asText)}>
            {t(asText ? "calendar.asBlocks" : "calendar.asText")}
          </button>
        </p>
      )}
      {value.data && <WeekPicture label={t("calendar.thisWeek")} calendar={value} zone={zone} />}
    </>
  );
}

interface CalendarTextProps {
  edit: Edit<Calendar>;
  says: string;
  onTyped: () => void;
}

function CalendarText({ edit, says, onTyped }: CalendarTextProps) {
  const id = useId();
  const error = edit.errorOf("data");
  return (
    <div class="field">
      <label for={id}>{t("calendar.text")}</label>
      <textarea
        id={id}
        class="calendar-text"
        rows={12}
        spellcheck={false}
        wrap="off"
        disabled={edit.disabled}
        aria-describedby={`${id}-hint`}
        value={decoded(edit.value.data).replace(/\r\n/g, "\n")}
        onInput={(event) => {
          // It stays text while it is typed, also where blocks could say it by chance.
          onTyped();
          edit.set({ data: encoded(withCrLf(event.currentTarget.value)) });
        }}
      />
      <p id={`${id}-hint`} class="field-hint">
        {says}
      </p>
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** What the form begins with; empty where what was typed before was not whole. */
function read(data: string): { data: string; blocks: Blocks | null } {
  const blocks = data ? blocksOf(decoded(data)) : { blocks: [], exceptions: [], zone: "" };
  return { data, blocks };
}

/** The line ends of the standard, which text fields do not keep. */
function withCrLf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
