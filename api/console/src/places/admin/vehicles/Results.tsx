import { t } from "../../../i18n/translate";
import { type Column, Table } from "../../../parts/Table";

/** Why something was not done for a vehicle. */
export interface Failure {
  name: string;
  text: string;
}

/** The vehicles for which something was not done, with the reasons. */
export function Results({ failures }: { failures: readonly Failure[] }) {
  const columns: readonly Column<Failure>[] = [
    { key: "name", label: t("settings.name"), width: 9, value: ({ name }) => name },
    {
      key: "text",
      label: t("vehicles.reason"),
      width: 18,
      value: ({ text }) => text,
      cell: ({ text }) => <span title={text}>{text}</span>,
    },
  ];
  return (
    <>
      <p role="alert">{t("vehicles.failed", { count: failures.length })}</p>
      <div class="vehicles-results">
        <Table
          label={t("vehicles.failures")}
          columns={columns}
          rows={failures}
          keyOf={(failure) => failures.indexOf(failure)}
        />
      </div>
    </>
  );
}
