/** The map of the fleet. */
export function FleetMap() {
  return <div class="fleet-map" />;
}
