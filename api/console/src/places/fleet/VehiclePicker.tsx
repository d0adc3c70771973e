import { Picker } from "../../parts/Picker";
import { deviceIds, deviceNow } from "../../state/fleet";

interface VehiclePickerProps {
  label: string;
  value: number | null;
  onChange: (id: number | null) => void;
  /** Offered first, for no choice at all. */
  noneLabel?: string;
  placeholder?: string;
}

/** A choice of a vehicle of the fleet, by its name or number. */
export function VehiclePicker({ onChange, ...rest }: VehiclePickerProps) {
  const vehicles = deviceIds.value.map((id) => {
    const found = deviceNow(id);
    return { id, name: found?.name ?? "", note: found?.uniqueId ?? "" };
  });
  return <Picker {...rest} items={vehicles} onChange={(id) => onChange(id === null ? null : Number(id))} />;
}
