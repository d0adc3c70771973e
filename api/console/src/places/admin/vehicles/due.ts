/** What maintenance counts (docs/http-api.md#due-maintenance). */

/** Types of maintenance that are instants, in milliseconds since 1970. */
export const INSTANTS: readonly string[] = ["serverTime", "deviceTime", "fixTime"];
/** Types that are offered; any other attribute of positions that is a number can be typed. */
export const TYPES: readonly string[] = ["totalDistance", "hours", "odometer", "engineHours", ...INSTANTS];
