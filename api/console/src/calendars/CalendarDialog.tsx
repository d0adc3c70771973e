import type { Calendar } from "../api/types";
import { t } from "../i18n/translate";
import { RecordDialog } from "../records/RecordDialog";
import { calendarText, encoded, FIRST_BLOCK } from "./blocks";
import { CalendarFields } from "./CalendarFields";

interface CalendarDialogProps {
  /** Null for a new one. */
  calendar: Calendar | null;
  title?: string;
  /** What a new one is called at first. */
  name?: string;
  /** The zone of the times of a new one; empty: that of the server. */
  zone?: string;
  onClose: () => void;
  onSaved: (calendar: Calendar) => void;
}

/** A calendar, new or stored, wherever one is chosen or shown. */
export function CalendarDialog(props: CalendarDialogProps) {
  const { calendar, title, name = "", zone = "", onClose, onSaved } = props;
  const data = encoded(calendarText({ blocks: [FIRST_BLOCK], exceptions: [], zone }));
  return (
    <RecordDialog
      title={title ?? (calendar ? calendar.name : t("calendar.new"))}
      path="/calendars"
      stored={calendar}
      blank={{ id: 0, name, data, attributes: {} }}
      wide
      onClose={onClose}
      onSaved={onSaved}
    >
      {(edit) => <CalendarFields edit={edit} />}
    </RecordDialog>
  );
}
