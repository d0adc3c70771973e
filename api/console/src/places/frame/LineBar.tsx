import { useEffect, useState } from "preact/hooks";
import { reachable } from "../../api/reachability";
import { connection, lostSince } from "../../api/socket";
import { duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { expired, style } from "../../state/session";
import { now } from "../../time/clock";

/** A loss shorter than this is mended before anybody could act on it. */
const QUIET_MS = 2000;

/** Says while the line to the server is lost how old the page is, and whether anything can be changed. */
export function LineBar() {
  const lost = connection.value === "lost" && !expired.value;
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!lost) return;
    const timer = setTimeout(() => setLate(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  const reached = reachable.value;
  useEffect(() => {
    const { classList } = document.documentElement;
    classList.toggle("line-lost", lost && late);
    classList.toggle("no-writing", lost && !reached);
  }, [lost, late, reached]);
  if (!lost || !late) return null;
  const age = now.value - (lostSince.value ?? now.value);
  return (
    <div class="line-bar" role="status">
      <Icon name="warning" size={16} />
      {age < 1000 ? t("frame.lostNow") : t("frame.lost", { age: duration(age, style.value) })}
      {!reached && ` ${t("frame.noWriting")}`}
    </div>
  );
}
