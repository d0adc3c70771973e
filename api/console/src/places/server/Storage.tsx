import { get } from "../../api/call";
import type { ChangeableSetting, SettingsAtRunTime, StorageUse, TableUse } from "../../api/types";
import { Columns } from "../../charts/Bars";
import { date } from "../../format/times";
import { bytes, number } from "../../format/units";
import { hasText, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { AdminPlace } from "../admin/AdminPlace";
import { Identifier } from "./Identifier";
import "./upkeep.css";

/** Tables that are named; the others are one row. */
const NAMED = 12;
/** Which section of the settings says how long rows are kept. */
const KEPT_BY: Record<string, string> = {
  positions: "positions",
  events: "events",
  command_log: "events",
  audit: "audit",
  statistics: "statistics",
};
const SETTINGS = "/admin/server?open=retention";

/** What takes room, what grows, and how long it is kept. */
export default function Storage() {
  return (
    <AdminPlace to="/admin/storage">
      <Use />
    </AdminPlace>
  );
}

function Use() {
  const { value, problem, reload } = useLoaded("server storage", async (signal) => ({
    use: await get<StorageUse>("/server/storage", {}, signal),
    settings: await get<SettingsAtRunTime>("/server/settings", {}, signal),
  }));
  if (problem !== null) return <Problem problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton label={t("common.loading")} lines={10} />;
  const { use, settings } = value;
  const look = style.value;
  const total = (at: number) => bytes(at, look);
  return (
    <>
      <section class="card" aria-labelledby="upkeep-tables">
        <h2 id="upkeep-tables">
          {t("upkeep.inDatabase")}: {total(use.databaseBytes)}
        </h2>
        <p class="card-text">
          {t("upkeep.storageText")} <Link to={SETTINGS}>{t("upkeep.changeRetention")}</Link>
        </p>
        <Tables tables={use.tables} settings={settings} />
      </section>
      {use.days.length > 0 && (
        <section class="card" aria-label={t("upkeep.positionsByDay")}>
          <Columns
            label={t("upkeep.positionsByDay")}
            bars={use.days.map(({ time, positions }) => ({
              key: time,
              name: date(Date.parse(time), look),
              value: positions,
              text: number(positions, 0, look),
            }))}
          />
        </section>
      )}
      <section class="card" aria-labelledby="upkeep-files">
        <h2 id="upkeep-files">{t("upkeep.inFiles")}</h2>
        <ul class="upkeep-list">
          {use.folders.map((folder) => (
            <li key={folder.name}>
              <strong>{t(folder.name === "media" ? "upkeep.folder.media" : "upkeep.folder.override")}</strong>
              : {total(folder.bytes)}, {t("upkeep.filesOf", { count: folder.files })}
              {folder.name === "media" && (
                <small>
                  {["files", "captures"].map((section) => (
                    <MediaKept key={section} settings={settings} section={section} />
                  ))}
                </small>
              )}
            </li>
          ))}
        </ul>
        {!use.whole && <p class="faint">{t("upkeep.notWhole")}</p>}
        {use.disk && (
          <p>
            {t("upkeep.disk")}:{" "}
            {t("upkeep.usedOf", { used: total(use.disk.used), total: total(use.disk.total) })}
          </p>
        )}
      </section>
    </>
  );
}

function MediaKept({ settings, section }: { settings: SettingsAtRunTime; section: string }) {
  const name = `server.name.${section}.retention_days`;
  const quota = settingOf(settings, section, "quota_bytes")?.value;
  return (
    <span>
      {hasText(name) ? t(name) : section}: <Link to={SETTINGS}>{keptText(settings, section)}</Link>
      {typeof quota === "number" && quota > 0
        ? `, ${t("upkeep.quota", { size: bytes(quota, style.value) })}. `
        : ". "}
    </span>
  );
}

function Tables({ tables, settings }: { tables: readonly TableUse[]; settings: SettingsAtRunTime }) {
  const look = style.value;
  const isNamed = ({ name }: TableUse, index: number) => index < NAMED || name in KEPT_BY;
  const shown = tables.filter(isNamed);
  const others = tables.filter((each, index) => !isNamed(each, index));
  return (
    <table class="upkeep-table">
      <thead>
        <tr>
          <th scope="col">{t("upkeep.what")}</th>
          <th scope="col" class="numeric">
            {t("upkeep.size")}
          </th>
          <th scope="col" class="numeric upkeep-wide">
            {t("upkeep.rows")}
          </th>
          <th scope="col" class="numeric">
            {t("upkeep.growth")}
          </th>
          <th scope="col">{t("upkeep.kept")}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((table) => {
          const section = KEPT_BY[table.name];
          return (
            <tr key={table.name}>
              <th scope="row">
                {tableName(table.name)}
                {table.partitions > 0 && <small>{t("upkeep.partitions", { count: table.partitions })}</small>}
              </th>
              <td class="numeric">{bytes(table.bytes, look)}</td>
              <td class="numeric upkeep-wide">{table.rows === null ? "" : number(table.rows, 0, look)}</td>
              <td class="numeric">{growthText(table)}</td>
              <td>{section && <Link to={SETTINGS}>{keptText(settings, section)}</Link>}</td>
            </tr>
          );
        })}
        {others.length > 0 && (
          <tr>
            <th scope="row">{t("upkeep.otherTables", { count: others.length })}</th>
            <td class="numeric">
              {bytes(
                others.reduce((sum, each) => sum + each.bytes, 0),
                look,
              )}
            </td>
            <td class="upkeep-wide" />
            <td />
            <td />
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Rows a day, and what they take by the average of the table. */
function growthText({ dailyRows, rows, bytes: size }: TableUse): string {
  if (dailyRows === null) return "";
  const look = style.value;
  const each = rows ? size / rows : 0;
  const room = each > 0 && dailyRows > 0 ? `, ${bytes(dailyRows * each, look)}` : "";
  return number(dailyRows, 0, look) + room;
}

function tableName(name: string) {
  const key = `upkeep.table.${name}`;
  if (hasText(key)) return t(key);
  return (
    <code translate={false}>
      <Identifier name={name} />
    </code>
  );
}

function settingOf(
  settings: SettingsAtRunTime,
  section: string,
  name: string,
): ChangeableSetting | undefined {
  return settings.sections
    .find((each) => each.name === section)
    ?.settings.find((setting) => setting.name === name);
}

function keptText(settings: SettingsAtRunTime, section: string): string {
  const days = Number(settingOf(settings, section, "retention_days")?.value ?? 0);
  return days > 0 ? t("upkeep.keptDays", { count: days }) : t("upkeep.keptForever");
}
