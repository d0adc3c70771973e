import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import "./admin.css";
import { adminSections, GROUPS } from "./sections";

/** Where everything is set up: the sections that the reader may use, with what each is for. */
export default function Admin() {
  useEffect(() => {
    document.title = `${t("frame.admin")} · Motorpool`;
  }, []);
  const seen = adminSections();
  return (
    <div class="page admin">
      <h1>{t("frame.admin")}</h1>
      {GROUPS.filter((group) => seen.some((each) => each.group === group)).map((group) => (
        <section key={group} aria-label={t(`admin.group.${group}`)}>
          <h2>{t(`admin.group.${group}`)}</h2>
          <ul class="admin-sections">
            {seen
              .filter((each) => each.group === group)
              .map(({ to, label, text }) => (
                <li key={to} class="card">
                  <Link to={to}>{t(label)}</Link>
                  <p class="card-text">{t(text)}</p>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
