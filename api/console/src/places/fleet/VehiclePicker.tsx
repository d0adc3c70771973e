import { Picker } from "../../parts/Picker";
import { vehicleChoices } from "../../state/vehicleChoices";

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
  const vehicles = vehicleChoices(rest.value === null ? [] : [rest.value]);
  return <Picker {...rest} items={vehicles} onChange={(id) => onChange(id === null ? null : Number(id))} />;
}
