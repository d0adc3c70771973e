/** Other words for what the palette finds, which are searched and not shown. */
export const words = {
  "words./fleet":
    "map vehicles cars trucks vans list tracking trackers positions where overview home dashboard units fleet",
  "words./live": "video cameras camera stream livestream streaming wall watch view dashcam cctv mosaic",
  "words./library":
    "recordings films clips video download footage media saved captures photos pictures images snapshots gallery evidence",
  "words./reports":
    "report statistics trips stops mileage kilometres distance fuel idling drivers summary table excel csv export totals",
  "words./overview": "dashboard summary morning start home figures numbers today",
  "words./zones": "geofences geofence areas places sites depots polygon",
  "words./events":
    "alarms alarm alerts notifications notices inbox incidents review reviewed acknowledge dismiss unread waiting violations speeding overspeed log sos sound",
  "words./tickets":
    "helpdesk support service desk board kanban cases issues requests complaints sla overdue assigned queue",
  "words./commands":
    "command log history sent queue queued answered answers engine immobilise remote control who",
  "words./schedules": "schedule timer automatic weekly night timed run commands",
  "words./reports/scheduled": "mail weekly daily monthly automatic send report",
  "words./calendars": "calendar business hours shifts holidays opening times ical week",
  "words./connect": "add vehicle device gps terminal unit imei install register pair new",
  "words./admin": "settings setup manage configuration users rights",
  "words./admin/users":
    "accounts people staff logins rights roles permissions restrictions invite disable password sessions impersonate administrators managers members",
  "words./admin/groups": "fleets branches departments folders tree hierarchy devices",
  "words./admin/links": "permissions rights access assign share who sees what",
  "words./admin/devices": "devices fleet table list bulk mass import export csv excel archive groups columns",
  "words./admin/drivers": "driver key card ibutton rfid who drives",
  "words./admin/maintenance": "service oil inspection due reset odometer hours repair",
  "words./admin/orders": "order transport delivery job",
  "words./admin/attributes": "computed attribute expression formula calculate sensor",
  "words./admin/commands": "saved command template preset",
  "words./admin/notifications": "notify alert alerts mail sms telegram webhook who is told message",
  "words./admin/server":
    "server settings administration admin configuration system smtp mail email sms telegram webhook notifications map tiles streets satellite geocoder sso openid retention storage quota limits",
  "words./helpdesk":
    "companies company tickets setup teams agents contacts sla service levels business hours categories priorities workflow branches webhook rules customers support",
  "words./helpdesk/new": "company helpdesk add create start",
  "words./zones/new": "draw geofence fence area polygon circle corridor add create",
  "words./account": "settings preferences profile user options name email phone",
  "words.alarm": "last alert sos panic emergency",
  "words.secondWindow": "screen monitor second open",
  "words.help": "help keys shortcuts keyboard manual support",
  "words.logout": "logout sign out exit quit leave end session",
  "words.theme": "theme appearance colors colours mode night day contrast",
  "words.language": "language translation texts",
  "words.preferences":
    "settings units unit km miles mph knots time zone timezone format coordinates columns shortcuts",
  "words.password": "settings password security change login",
  "words.codes": "settings security two factor 2fa totp mfa authenticator",
  "words.sessions": "settings devices browsers logins where",
  "words.tokens": "settings api access program integration",
  "words.shares": "settings links guests public",
  "words.live.vehicle": "video camera cameras stream watch picture dashcam",
  "words.history.vehicle":
    "trips trip journeys drives stops parking route routes track playback replay report reports export excel csv gpx kml distance mileage km speed day yesterday past recordings",
  "words.events.vehicle": "alarms alerts notifications log incidents",
  "words.commands.vehicle":
    "command engine ignition stop immobilise immobilize block unlock reboot restart send sms output",
  "words.settings.vehicle": "edit rename name number model delete remove attributes group",
  "words.follow": "track centre center map locate",
  "words.share": "link guest public send location",
} as const;
