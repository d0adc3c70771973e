import type { ComponentChildren, PartialInputHTMLAttributes, Ref } from "preact";
import { t } from "../i18n/translate";
import { Icon } from "./Icon";

type SearchFieldProps = Omit<PartialInputHTMLAttributes<HTMLInputElement>, "class" | "label" | "onInput"> & {
  label: string;
  value: string;
  onText: (text: string) => void;
  field?: Ref<HTMLInputElement>;
  class?: string;
  /** What stands behind the field, such as the key that leads to it. */
  children?: ComponentChildren;
};

/** A field for what is searched, with the icon of searching in it. */
export function SearchField({
  label,
  onText,
  field = null,
  class: more,
  children,
  ...rest
}: SearchFieldProps) {
  return (
    <div class={more ? `search ${more}` : "search"}>
      <Icon name="search" size={18} />
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={t("common.search")}
        onInput={(event) => onText(event.currentTarget.value)}
        {...(rest as object)}
      />
      {children}
    </div>
  );
}
