/** Other words for what the palette finds, which are searched and not shown. */
export const words = {
  "words./fleet":
    "map vehicles cars trucks vans list tracking trackers positions where overview home dashboard units fleet",
  "words./live": "video cameras camera stream livestream streaming wall watch view dashcam cctv mosaic",
  "words./library":
    "recordings films clips video download footage media saved captures photos pictures images snapshots gallery evidence",
  "words./zones": "geofences geofence areas places sites depots polygon",
  "words./events":
    "alarms alarm alerts notifications notices inbox incidents review reviewed acknowledge dismiss unread waiting violations speeding overspeed log sos sound",
  "words./connect": "add vehicle device gps terminal unit imei install register pair new",
  "words./server":
    "settings administration admin configuration system smtp mail email sms telegram webhook notifications map tiles streets satellite geocoder sso openid retention storage quota limits",
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
