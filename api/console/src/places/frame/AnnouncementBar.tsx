import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { announcement, hideAnnouncement } from "../../state/announcement";

/** What administrators tell all users. */
export function AnnouncementBar() {
  const text = announcement.value;
  return text ? <AnnouncementText text={text} onHide={hideAnnouncement} /> : null;
}

/** The words as all see them; without `onHide` they stay. */
export function AnnouncementText({ text, onHide }: { text: string; onHide?: () => void }) {
  return (
    <section class="announcement-bar" aria-label={t("frame.announcement")}>
      <p>{text}</p>
      {onHide && (
        <button
          type="button"
          class="icon-button"
          aria-label={t("frame.hideAnnouncement")}
          title={t("frame.hideAnnouncement")}
          onClick={onHide}
        >
          <Icon name="close" size={16} />
        </button>
      )}
    </section>
  );
}
