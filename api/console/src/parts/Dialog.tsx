import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n/translate";
import { Icon } from "./Icon";

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Buttons at the bottom; the default one has `autofocus`. */
  actions?: ComponentChildren;
  /** Without it the dialog cannot be left by Escape or the cross. */
  onClose?: () => void;
  wide?: boolean;
}

/** A modal dialog, open while it is drawn. The focus returns to where it was. */
export function Dialog({ title, children, actions, onClose, wide }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // Before the effects of what is in it, which may move the focus.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // What lies behind an open dialog takes no focus.
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      class={wide ? "wide" : ""}
      onCancel={(event) => {
        // A picker's own list cancels as well, and must not take the dialog along.
        if (event.target !== element.current) return;
        event.preventDefault();
        close.current?.();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="icon-button" aria-label={t("common.close")} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <div class="dialog-body">{children}</div>
      {actions && <footer>{actions}</footer>}
    </dialog>
  );
}
