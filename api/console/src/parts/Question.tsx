import { useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Dialog } from "./Dialog";
import { sentenceOf } from "./Problem";

interface QuestionProps {
  title: string;
  text: string;
  /** What the button that does it says. */
  act: string;
  /** Throws what is said then. */
  run: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Question({ title, text, act, run, onClose }: QuestionProps) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" autofocus onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button
            type="button"
            class="dangerous"
            disabled={busy}
            onClick={() => {
              setBusy(true);
              run().then(onClose, (problem: unknown) => {
                setSaid(sentenceOf(problem));
                setBusy(false);
              });
            }}
          >
            {act}
          </button>
        </>
      }
    >
      <p>{text}</p>
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </Dialog>
  );
}
