/** Texts of the overview, which are loaded with it. */
export const overview = {
  "overview.title": "Overview",
  "overview.now": "Vehicles now",
  "overview.waiting": "What waits",
  "overview.alarms": "Alarms and warnings to review",
  "overview.maintenance": "Maintenance due",
  "overview.tickets": "Tickets late",
  "overview.cameras": "Vehicles with silent cameras",
  "overview.noneSilent": "All cameras are heard of.",
  "overview.lost": "No picture of camera {cameras}",
  "overview.more": { one: "And {count} more", other: "And {count} more" },
  "overview.yesterday": "Yesterday",
  "overview.yesterdayText":
    "By the counters of the vehicles. The reports that these figures lead to follow the track.",
  "overview.distance": "Distance",
  "overview.hours": "Engine hours",
  "overview.drove": "Vehicles that drove",
  "overview.weekBefore": "{value} a day in the week before ({change})",
  "overview.startHere": "Begin with this page",
  "overview.startFleet": "Begin with the fleet",
  "overview.startsHere": "You begin with the overview from now on.",
  "overview.startsFleet": "You begin with the fleet from now on.",
} as const;
