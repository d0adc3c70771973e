import { useMemo } from "preact/hooks";
import type { Order } from "../../../api/types";
import { t } from "../../../i18n/translate";
import type { Column } from "../../../parts/Table";
import { TextField } from "../../../records/EditFields";
import { may } from "../../../state/session";
import { RecordTable, useAll } from "./RecordTable";

const BLANK: Order = {
  id: 0,
  uniqueId: null,
  description: null,
  fromAddress: null,
  toAddress: null,
  attributes: {},
};

/** What is brought from one address to another, and by which vehicles. */
export default function Orders() {
  const records = useAll<Order>("/orders");
  const columns = useMemo(
    (): readonly Column<Order>[] => [
      { key: "uniqueId", label: t("vehicles.reference"), width: 8, value: ({ uniqueId }) => uniqueId },
      { key: "description", label: t("vehicles.what"), width: 14, value: ({ description }) => description },
      { key: "from", label: t("vehicles.fromAddress"), width: 12, value: ({ fromAddress }) => fromAddress },
      { key: "to", label: t("vehicles.toAddress"), width: 12, value: ({ toAddress }) => toAddress },
    ],
    [],
  );
  return (
    <RecordTable<Order>
      to="/admin/orders"
      path="/orders"
      icon="list"
      mayEdit={may("edit")}
      records={records}
      columns={columns}
      sort={{ key: "uniqueId", descending: false }}
      nameOf={({ uniqueId, description }) => uniqueId || description || t("vehicles.order")}
      newLabel={t("vehicles.newOrder")}
      empty={{ title: t("vehicles.noOrders"), text: t("vehicles.noOrdersText") }}
      deleteText={t("vehicles.deleteOrderText")}
      blank={BLANK}
      linkKey="orderId"
      fields={(edit) => (
        <>
          <TextField edit={edit} field="uniqueId" label={t("vehicles.reference")} />
          <TextField edit={edit} field="description" label={t("vehicles.what")} />
          <TextField edit={edit} field="fromAddress" label={t("vehicles.fromAddress")} />
          <TextField edit={edit} field="toAddress" label={t("vehicles.toAddress")} />
        </>
      )}
    />
  );
}
