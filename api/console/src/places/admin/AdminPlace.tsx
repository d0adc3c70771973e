import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Sections } from "../../parts/Sections";
import { go } from "../../router";
import "./admin.css";
import { adminSections } from "./sections";

interface AdminPlaceProps {
  /** The address of the section. */
  to: string;
  /** What is shown of it, such as the name of a user; without it the section's name. */
  title?: string;
  /** Buttons beside the heading. */
  acts?: ComponentChildren;
  children: ComponentChildren;
}

/** A section of the administration, beside the list of those that the reader may use. */
export function AdminPlace({ to, title, acts, children }: AdminPlaceProps) {
  const seen = adminSections();
  const section = seen.find((each) => each.to === to);
  const heading = title ?? (section ? t(section.label) : t("frame.admin"));
  useEffect(() => {
    document.title = `${heading} · Motorpool`;
  }, [heading]);
  return (
    <div class="page admin">
      <header class="page-head">
        <h1>{heading}</h1>
        {section && acts}
      </header>
      <Sections
        label={t("frame.admin")}
        tabs={seen.map((each) => ({ key: each.to, label: t(each.label), href: each.to }))}
        chosen={to}
        onChoose={go}
      >
        {section ? children : <p class="card-text">{t("admin.mayNot")}</p>}
      </Sections>
    </div>
  );
}
