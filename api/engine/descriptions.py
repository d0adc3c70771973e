"""Descriptions of fields and parameters for the OpenAPI document.

Units throughout: knots, metres, milliseconds, litres, degrees, UTC.

The file is longer than others because it is a plain list of what every field and parameter means.
"""

import inspect
import re
from collections.abc import Mapping

__all__ = ["ERROR_STATUSES", "FIELDS", "PARAMETERS", "PATH_VALUES", "describe_field", "describe_record"]

FIELDS: Mapping[str, str] = {
    # Common to many
    "id": (
        "The record's own id. In the body of an update absent, 0, or the id of the "
        "path; ignored for a new one."
    ),
    "name": "What people call it.",
    "uniqueId": "An identifier from outside.",
    "description": "Free text.",
    "attributes": "Further values by name, as clients and the server agree on them.",
    "groupId": "The group; 0 is none.",
    "calendarId": "The calendar; 0 is none.",
    "deviceId": "The device; 0 is none.",
    "positionId": "The position; 0 is none.",
    "geofenceId": "The geofence; 0 is none.",
    "maintenanceId": "The maintenance; 0 is none.",
    "commandId": "The saved command; 0 is none.",
    "userId": "The user; 0 is none.",
    "type": "The kind.",
    "textChannel": "By text message in place of the device's connection.",
    "latitude": "Degrees, north positive.",
    "longitude": "Degrees, east positive.",
    # Users, and the flags they share with the server
    "User.name": "Full name.",
    "User.login": "A second name to log in with.",
    "User.email": "E-mail address, unique whatever its case.",
    "User.phone": "Telephone number for text messages.",
    "User.readonly": "Changes nothing.",
    "User.administrator": "May do everything.",
    "User.latitude": "Where the map begins, in degrees; 0 is not set.",
    "User.longitude": "Where the map begins, in degrees; 0 is not set.",
    "User.disabled": "Cannot log in.",
    "User.expirationTime": "From then on as if disabled; null is never.",
    "User.deviceLimit": "Devices that the user may add; -1 is no limit.",
    "User.userLimit": "Users that the user may have; 0 makes no manager, -1 is no limit.",
    "User.deviceReadonly": "Changes no devices.",
    "User.limitCommands": "Sends saved commands only.",
    "User.disableReports": "Sees no history and no reports.",
    "User.fixedEmail": "Keeps the e-mail address.",
    "User.totpKey": (
        "Base32 secret of one-time codes. Null in answers; in a body null keeps it "
        "and an empty text removes it."
    ),
    "User.temporary": "Made by a share link; removed after its expiration.",
    "User.password": "Needed for a new user; left out or empty it is kept. Null in answers.",
    "User.currentPassword": (
        "With a change of one's own password, one-time-code key or e-mail, unless the login is recent. Null"
        " in answers. Not in the specification."
    ),
    # Credentials
    "SessionInfo.id": "What the session is ended by; it opens nothing.",
    "SessionInfo.created": "When the user logged in.",
    "SessionInfo.lastUsed": "When it was used last, to a minute.",
    "SessionInfo.expires": "When it ends if it is not used again.",
    "SessionInfo.address": "From where the user logged in; null for sessions of earlier versions.",
    "SessionInfo.userAgent": "What the client called itself; or null.",
    "SessionInfo.tokenId": "The token with which it began and ends; null without one.",
    "SessionInfo.impersonatorId": "The user who began it as this one; 0 if it is the user's own.",
    "SessionInfo.current": "Whether it is the session of this request.",
    "TokenInfo.id": "What the token is ended by; its text is shown only when it is issued.",
    "TokenInfo.issued": "When it was issued.",
    "TokenInfo.expires": "When it ends.",
    "TokenInfo.issuerId": "The user who issued it in a session as this one; 0 if it is the user's own.",
    "TokenInfo.current": "Whether it is the token of this request, or began its session.",
    "ShareInfo.id": "What the link is ended by; its token is shown only when it is issued.",
    "ShareInfo.userId": "The temporary user as whom its holders see the device or group.",
    "ShareInfo.issued": "When it was issued.",
    "ShareInfo.expires": "When it ends.",
    "SigningKeyInfo.id": "Its number.",
    "SigningKeyInfo.created": "When it began to sign.",
    "SigningKeyInfo.acceptedUntil": "Until when it verifies tokens; null for the key that signs.",
    "map": "Name of the map to begin with.",
    "zoom": "Zoom of the map to begin with; 0 is not set.",
    "coordinateFormat": "How places are written: dd, ddm or dms.",
    "poiLayer": "Address of a KML file with points of interest.",
    "Server.id": "Always 1; absent or 0 in a body counts as that.",
    "Server.registration": "Visitors may create a user for themselves.",
    "Server.readonly": "Users who are no administrators change nothing; new users get the flag.",
    "Server.deviceReadonly": "Users who are no administrators change no devices; new users get the flag.",
    "Server.limitCommands": (
        "Users who are no administrators send saved commands only; new users get the flag."
    ),
    "Server.disableReports": "Users who are no administrators see no history; new users get the flag.",
    "Server.fixedEmail": "Users who are no administrators keep their e-mail address; new users get the flag.",
    "Server.bingKey": "Key of a map service.",
    "Server.mapUrl": "Address of a map of one's own.",
    "Server.overlayUrl": "Address of map tiles laid over the map.",
    "Server.announcement": "Shown on the login page.",
    "Server.forceSettings": "The server's preferences win over those of users.",
    "Server.version": "Release of this interface.",
    "Server.openIdEnabled": "There is an OpenID Connect provider.",
    "Server.openIdForce": "Users cannot log in by password.",
    "Server.emailEnabled": "Mail can be sent.",
    "Server.textEnabled": "Text messages can be sent.",
    "Server.geocoderEnabled": "Addresses can be looked up.",
    "Server.newServer": "There has never been a user; true for anonymous clients only.",
    "Server.storageSpace": "Free and total bytes of the data's volume; for administrators.",
    # Devices, groups, positions, events
    "Device.uniqueId": "What the hardware calls itself, such as its IMEI; unique.",
    "Device.status": "online, offline or unknown.",
    "Device.lastUpdate": "When it last sent anything.",
    "Device.positionId": "Its latest position; 0 is none.",
    "Device.calendarId": "Positions are kept only while the calendar has an event; 0 is no such rule.",
    "Device.phone": "Telephone number, for commands by text message.",
    "Device.model": "Make and model.",
    "Device.contact": "Whom to ask.",
    "Device.category": "Icon on maps: car, truck, bus, …",
    "Device.disabled": "Its connections are refused.",
    "Device.expirationTime": "From then on as if disabled; null is never.",
    "Accumulators.deviceId": "Absent, 0, or the id of the path.",
    "Group.groupId": "The group above; 0 is none.",
    "Position.protocol": "What the device speaks.",
    "Position.serverTime": "When it arrived.",
    "Position.deviceTime": "The device's clock.",
    "Position.fixTime": "When the place was found; history is in this order.",
    "Position.outdated": "The place is an older one, repeated.",
    "Position.valid": "The device trusts the place.",
    "Position.altitude": "Metres.",
    "Position.speed": "Knots over ground.",
    "Position.course": "Degrees from north, clockwise.",
    "Position.address": "Address of the place, where it was looked up.",
    "Position.accuracy": "Metres; 0 is unknown.",
    "Position.network": "Cell towers and wireless networks around the device.",
    "Position.geofenceIds": "Geofences that hold the place; null for none.",
    "Event.eventTime": "When it happened.",
    # Commands
    "Command.deviceId": "0 in a saved command, which is for any device.",
    "Command.type": "One of `GET /commands/types`.",
    "CommandBody.id": "A saved command, of which all but the device is taken; 0 or absent: this one.",
    "CommandBody.deviceId": "The device; not needed with `groupId`.",
    "CommandBody.type": "One of `GET /commands/types`; needed without `id`.",
    "CommandBody.attributes": (
        "What the type asks for, such as `channel`; `noQueue` refuses where the device is offline."
    ),
    "CommandType.type": "What a command may ask of a device.",
    "QueuedCommand.id": "Its number in the queue.",
    "QueuedCommand.type": "One of `GET /commands/types`.",
    "FailingReceiver.notificator": "One of `GET /notifications/notificators`.",
    "FailingReceiver.failures": "Failed attempts since the last success.",
    "FailingReceiver.since": "The first of these attempts.",
    "FailingReceiver.lastFailure": "The latest of them.",
    "FailingReceiver.lastError": "Why it failed.",
    "FailingReceiver.paused": "Since when no messages are made for it; null while attempts go on.",
    "WaitingCommand.id": "Its number in the queue.",
    "WaitingCommand.type": "One of `GET /commands/types`.",
    "WaitingCommand.created": "When it was queued.",
    "WaitingCommand.expires": "When it is removed without being sent; null is never.",
    "WaitingCommand.userId": "Who queued it; 0 for a step of a scheduled command.",
    "WaitingCommand.scheduledCommandId": "The scheduled command of which it is a step; else 0.",
    "ScheduledCommand.calendarId": "The calendar whose windows drive it; touching events are one window.",
    "ScheduledCommand.active": "Fires with its calendar; without that only when it is run by hand.",
    "ScheduledCommand.onStart": "Sent in order when a window starts.",
    "ScheduledCommand.onEnd": "Sent in order when a window ends.",
    "ScheduledCommand.attributes": (
        "`queueMaxMinutes`: a device that is offline gets its command within so many minutes, 0 to 43200;"
        " absent or 0 skips it."
    ),
    "ScheduledCommand.deviceIds": "Devices linked to it; changed by `/permissions`.",
    "ScheduledCommand.groupIds": (
        "Groups linked to it, of which every device counts, those of groups below too; changed by"
        " `/permissions`."
    ),
    "ScheduledCommand.lastRun": "When it last ran; null is never.",
    "ScheduledCommand.ownerId": (
        "The user with whose rights its steps are sent; 0 if they were deleted: all steps are skipped then"
        " (`no_permission`) until somebody saves it, who becomes its owner."
    ),
    "ScheduledStep.commandId": "The saved command.",
    "ScheduledStep.delaySeconds": "After the step before was sent; of no account for the first.",
    "ScheduledCommandRun.scheduledCommandId": "What was run.",
    "ScheduledCommandRun.phase": "start, end or manual.",
    "ScheduledCommandRun.deviceId": "To which device.",
    "ScheduledCommandRun.commandId": "The saved command of the step.",
    "ScheduledCommandRun.time": (
        "When the step was sent, queued or skipped; of a pending one when it is due."
    ),
    "ScheduledCommandRun.status": "pending, sent, queued, delivered, skipped or failed.",
    "ScheduledCommandRun.reason": (
        "Why it was skipped: offline, queue_expired, superseded, schedule_inactive, missed, no_permission,"
        " device_not_found, command_not_found or not_sent; or why it failed; else null."
    ),
    "ScheduledCommandRun.detail": "More about the reason, in words; or null.",
    "RunBody.phase": "Which list: start is `onStart`, end is `onEnd`.",
    # What is linked to devices
    "Driver.uniqueId": "What a vehicle's reader reports as `driverUniqueId`; unique.",
    "Order.uniqueId": "The client's own number.",
    "Order.fromAddress": "Where it is picked up.",
    "Order.toAddress": "Where it is brought.",
    "Calendar.data": "Base64 of iCalendar text; comes back as it was sent.",
    "Geofence.area": "`CIRCLE (lat lon, metres)`, `POLYGON ((lat lon, …), …)` or `LINESTRING (lat lon, …)`.",
    "Geofence.calendarId": "Entering and leaving count only while the calendar has an event; 0 is always.",
    "Maintenance.type": "The attribute of positions that is counted: totalDistance, hours, …",
    "Maintenance.start": "Where it is first due, in the attribute's own unit.",
    "Maintenance.period": "How often it is due again, in the attribute's own unit; 0 is never.",
    "ComputedAttribute.attribute": "The attribute of positions that is set.",
    "ComputedAttribute.expression": "What computes it.",
    "ComputedAttribute.type": "String, Number or Boolean, whatever the case; null counts as String.",
    "ComputedAttribute.priority": (
        "Negative ones are computed before all else; among each kind the higher first."
    ),
    "Notification.type": "One of `GET /notifications/types`.",
    "Notification.always": "For all devices of the users linked to it.",
    "Notification.web": "To the socket.",
    "Notification.mail": "By mail.",
    "Notification.sms": "By text message.",
    "Notification.notificators": (
        "Comma list of `GET /notifications/notificators`, in step with web, mail and sms."
    ),
    "Notification.calendarId": "Only while the calendar has an event; 0 is always.",
    "Notification.commandId": "The saved command that the notificator `command` sends; 0 is none.",
    "NotificationType.type": "A type of event.",
    "NotificatorType.type": "A way that notifications go out by.",
    "Announcement.body": "The words.",
    "Announcement.subject": "Their heading.",
    "Announcement.digest": "Their short form, for sockets and text messages; without it the body.",
    "Announcement.priority": "To be sent before others.",
    # Reports
    "averageSpeed": "Knots.",
    "deviceName": "The device's name.",
    "distance": "Metres.",
    "driverName": "The driver's name; null if unknown or not accessible.",
    "driverUniqueId": "The driver's unique id; null if unknown.",
    "duration": "Milliseconds.",
    "endAddress": "Where it ended; null if unknown.",
    "endHours": "Engine hours at the end, in milliseconds.",
    "endLat": "Degrees, north positive.",
    "endLon": "Degrees, east positive.",
    "endOdometer": "Metres at the end.",
    "endPositionId": "The position it ended with.",
    "endTime": "When it ended.",
    "engineHours": "Milliseconds for which the engine ran.",
    "maxSpeed": "Knots.",
    "spentFuel": "Litres.",
    "startAddress": "Where it began; null if unknown.",
    "startHours": "Engine hours at the beginning, in milliseconds.",
    "startLat": "Degrees, north positive.",
    "startLon": "Degrees, east positive.",
    "startOdometer": "Metres at the beginning.",
    "startPositionId": "The position it began with.",
    "startTime": "When it began.",
    "StopItem.address": "Where it was; null if unknown.",
    "StopItem.latitude": "Degrees, north positive.",
    "StopItem.longitude": "Degrees, east positive.",
    "CombinedItem.events": "What happened at one of the positions.",
    "CombinedItem.positions": "Where the events happened.",
    "CombinedItem.route": "Longitude and latitude of each position, in degrees.",
    # The log and the count
    "AuditAction.actionTime": "When it was done.",
    "AuditAction.address": "The client's address.",
    "AuditAction.userId": "The user who did it; 0 if unknown.",
    "AuditAction.userEmail": "The user's e-mail address; null once the user is gone.",
    "AuditAction.actionType": "login, create, edit, link, …",
    "AuditAction.objectType": "What it was done to: device, user, …",
    "AuditAction.objectId": "Its id; 0 is none.",
    "Statistics.captureTime": "Until when the day is counted.",
    "Statistics.activeUsers": "Users who asked for anything.",
    "Statistics.activeDevices": "Devices of which a position was stored.",
    "Statistics.requests": "Requests of users who were logged in.",
    "Statistics.messagesReceived": "Messages that devices sent.",
    "Statistics.messagesStored": "Positions stored.",
    "Statistics.mailSent": "Mails sent.",
    "Statistics.smsSent": "Text messages sent.",
    "Statistics.geocoderRequests": "Addresses asked for.",
    "Statistics.geolocationRequests": "Places asked for by cell towers.",
    "Statistics.protocols": "Active devices of each protocol.",
    "Accumulators.totalDistance": "Metres.",
    "Accumulators.hours": "Milliseconds.",
    # Companies and what they configure
    "companyId": "The company, which cannot be changed.",
    "branchId": "The branch; 0 is none.",
    "teamId": "The team; 0 is none.",
    "priorityId": "The priority; 0 is none.",
    "disabled": "Not to be chosen any more; what refers to it keeps it.",
    "Company.uniqueId": "An identifier from outside, unique among companies unless it is empty.",
    "Company.disabled": "Not to be used any more.",
    "Company.attributes": (
        "`roles`: a list of words, or a text with commas between them; `timezone`; `reopenDays`;"
        " `autoCloseDays`; `ticketWebhook`, whose secrets only managers of the company see."
    ),
    "Branch.uniqueId": "An identifier from outside, unique in the company unless it is empty.",
    "Branch.attributes": "`zone`: what statistics of tickets group branches by; address, place and the like.",
    "Team.uniqueId": "An identifier from outside, unique in the company unless it is empty.",
    "TeamMember.id": "The user.",
    "TeamMember.name": "The user's name.",
    "TeamMember.email": "The user's e-mail address.",
    "Contact.uniqueId": "An identifier from outside, unique in the company unless it is empty.",
    "Contact.userId": "The user that this person is; 0 is none.",
    "Contact.driverId": "The driver that this person is; 0 is none.",
    "Contact.name": "Whom to ask for.",
    "Contact.email": "E-mail address.",
    "Contact.phone": "Telephone number.",
    "Contact.language": "Language, such as `en`; empty is unknown.",
    "Contact.timezone": "Time zone by its name in the tz database; empty is unknown.",
    "TicketCategory.parentId": "The category above it, of the same company; 0 for a root.",
    "TicketCategory.teamId": "The team that new tickets start with; 0 is none.",
    "TicketCategory.priorityId": "The priority that new tickets start with; 0 is none.",
    "TicketPriority.level": "1 is the most urgent.",
    "TicketPriority.firstResponseMinutes": "Business minutes until the first response; 0 is no target.",
    "TicketPriority.resolutionMinutes": "Business minutes until the resolution; 0 is no target.",
    "TicketPriority.calendarId": "The calendar whose events are the business hours; 0 counts every minute.",
    "TicketPriority.attributes": (
        "`escalateTeamId` and `escalatePriorityId`: where a ticket goes when it first breaches a target;"
        " `holidayCalendarId`: a calendar whose events are no business hours; `warnPercent`;"
        " `maxPauseMinutes`; `pauseFirstResponse`."
    ),
    "TicketStatus.name": "What the company calls it.",
    "TicketStatus.kind": "What the server takes it for: new, open, pending, resolved, closed or cancelled.",
    "TicketStatus.sortOrder": "Its place among the others.",
    "TicketStatus.attributes": (
        "`next`: ids of the statuses that may follow; without it any, and with an empty list none."
    ),
    "TicketDefaults.categories": "The standard categories.",
    "TicketDefaults.priorities": "The standard priorities.",
    "TicketDefaults.statuses": "The standard statuses.",
    # Video
    "channel": "The camera, 1 to 31.",
    "Recording.startTime": "Where it begins.",
    "Recording.endTime": "Where it ends.",
    "Recording.alarmFlag": "Alarm bits, as the device tells them.",
    "Recording.type": "0 audio and video, 1 audio, 2 video.",
    "Recording.streamType": "1 main stream, 2 sub-stream.",
    "Recording.memoryType": "1 primary memory, 2 backup memory.",
    "Recording.size": "Bytes.",
    "Capture.id": "What the capture is asked for by.",
    "Capture.fileName": "Name of the file.",
    "Capture.url": "Where the file can be fetched; null until it is complete, and once it was removed.",
    "Capture.startedAt": "When it was made.",
    "Capture.completedAt": "When it ended; null while it is recording.",
    "Capture.status": "RECORDING, COMPLETE or FAILED.",
    "Capture.size": "Bytes written so far.",
    "Capture.reason": "Why it has ended; null while it is recording.",
    "Capture.live": "Of the live stream; else of a playback.",
    # Tickets
    "Ticket.number": "1, 2, 3 … in its company.",
    "Ticket.uniqueId": "An identifier from outside, unique in the company unless it is empty.",
    "Ticket.companyId": "The company, which cannot be changed.",
    "Ticket.branchId": "The branch; 0 is none.",
    "Ticket.contactId": "The contact; 0 is none.",
    "Ticket.categoryId": "The category; 0 is none.",
    "Ticket.priorityId": "The priority; 0 is none.",
    "Ticket.statusId": "The status.",
    "Ticket.statusKind": "What the status means: new, open, pending, resolved, closed or cancelled.",
    "Ticket.teamId": "The team; 0 is none.",
    "Ticket.assigneeId": "The user who works on it; 0 is nobody.",
    "Ticket.reporterId": "The user who created it; 0 is the server.",
    "Ticket.channel": "How it came: api, web, phone, email, device or schedule.",
    "Ticket.eventId": "The event that caused it; 0 is none.",
    "Ticket.positionId": "The position that caused it; 0 is none.",
    "Ticket.maintenanceId": "The maintenance that caused it; 0 is none.",
    "Ticket.geofenceId": "The geofence that caused it; 0 is none.",
    "Ticket.parentId": "The ticket it belongs to or repeats; 0 is none.",
    "Ticket.subject": "What it is about, in a line.",
    "Ticket.createdAt": "When it was created.",
    "Ticket.updatedAt": "When it was changed last.",
    "Ticket.statusChangedAt": "When its status was changed last.",
    "Ticket.firstResponseAt": "When an agent commented first; null until then.",
    "Ticket.resolvedAt": "When it was resolved or closed; null since it was reopened.",
    "Ticket.closedAt": "When it was closed or cancelled; null since it was reopened.",
    "Ticket.reopenedAt": "When it was reopened last.",
    "Ticket.lastContactAt": "When the contact commented last.",
    "Ticket.lastAgentAt": "When an agent commented last.",
    "Ticket.firstResponseDue": "Until when to answer; null without a target.",
    "Ticket.resolutionDue": "Until when to resolve; null without a target and while the clock is paused.",
    "Ticket.firstResponseBreached": "Whether it was not answered in time.",
    "Ticket.resolutionBreached": "Whether it was once not resolved in time.",
    "Ticket.slaPaused": "Whether the clock of the resolution is paused.",
    "Ticket.escalatedAt": "When it was escalated.",
    "Ticket.reopenCount": "How often it was reopened.",
    "Ticket.commentCount": "How many comments it has.",
    "Ticket.version": "One more with each change.",
    "Ticket.attributes": "`tags`, `positionSnapshot`, `captures`, `slaExcused`, and others freely.",
    "TicketEvent.id": "The entry's own id.",
    "TicketEvent.ticketId": "The ticket.",
    "TicketEvent.eventTime": "When it holds: for a breach its due time.",
    "TicketEvent.createdAt": "When it was written.",
    "TicketEvent.type": "What happened: created, comment, statusChanged, …",
    "TicketEvent.actor": "Who did it: user, contact, device or system.",
    "TicketEvent.contactId": "The contact; 0 is none.",
    "TicketEvent.field": "The field that was changed, if it is one.",
    "TicketEvent.from": "Its value before.",
    "TicketEvent.to": "Its value since.",
    "TicketEvent.text": "The text of a comment.",
    "TicketEvent.internal": "Only for agents and managers of the company.",
    "TicketEvent.version": "The version of the ticket that it made.",
    "TicketEvent.attributes": "By type: names at that time, kinds of statuses, reasons, targets.",
}
"""By record and field, or by field alone for all records without a description of their own."""

PARAMETERS: Mapping[str, str] = {
    "id": "The record.",
    "deviceId": "The device.",
    "groupId": "The group, and all groups below it.",
    "userId": "The user.",
    "from": "From this instant on.",
    "to": "Until this instant, which counts as well.",
    "token": "A session or share token.",
    "endTokens": "Whether all tokens of before end at once.",
    "email": "E-mail address, or the user's `login`.",
    "password": "The password.",
    "code": "One-time code, or the provider's code.",
    "state": "What the provider was sent with.",
    "setup": "The set-up token, for the first user of a new server. Not in the specification.",
    "error": "Why the provider could not log anybody in.",
    "expiration": "Until when the token is good.",
    "textChannel": "By text message.",
    "announcement": "Only those that take announcements.",
    "notificator": "One of `GET /notifications/notificators`.",
    "latitude": "Degrees, north positive.",
    "longitude": "Degrees, east positive.",
    "channel": "The camera, 1 to 31.",
    "live": "The live stream; else what the device sends after `videoPlayback`.",
    "minutes": "How long a live capture lasts; without it until it is deleted or the stream ends.",
    "index": "The segment's number in the playlist.",
    "part": "The part's number in its segment.",
    "_HLS_msn": "Wait until the playlist holds the segment of this number (Low-Latency HLS).",
    "_HLS_part": "Wait for this part of that segment.",
    "uniqueId": "The device's unique id.",
    "file": "The file's name.",
    "path": "Where the file is served, below `/`.",
    "type": "`xlsx` or `mail`.",
    "refresh": "Taken for old clients; no effect.",
    **{
        f"{kind}Id": "0 is any."
        for kind in (
            "attribute",
            "calendar",
            "command",
            "company",
            "driver",
            "geofence",
            "linkedDevice",
            "maintenance",
            "managedUser",
            "notification",
            "order",
            "report",
            "scheduledCommand",
            "team",
        )
    },
}
"""Parameters of paths, queries and forms whose declaration has no description."""

PATH_VALUES: Mapping[str, tuple[str, ...]] = {"type": ("xlsx", "mail")}
"""What a parameter of paths may be, if only that is found."""

ERROR_STATUSES: Mapping[int, str] = {
    400: "The input is wrong, or the caller may not do this. The text says why.",
    401: "No credential, or one that is not good; or this needs another role.",
    403: "Not open to the caller.",
    404: "There is no such thing, or the caller may not see it.",
    413: "The body is too large.",
    429: "Too many failed logins or requests of this kind; `Retry-After` says when to come back.",
    500: "It does not work, or is not set up here.",
    503: "The server cannot answer now; asking again after `Retry-After` may help.",
}
"""Statuses of errors; the body is one line of plain text for people."""

_CITATION = re.compile(r"\s*\((?:docs/|specification)[^)]*\)")


def describe_field(record: str, name: str) -> str:
    """Return the sentence for a field; KeyError if there is none."""
    own = f"{record}.{name}"
    return FIELDS[own] if own in FIELDS else FIELDS[name]


def describe_record(shape: type) -> str:
    """Return the first paragraph of its docstring, on one line and without citations of our pages."""
    first = (inspect.getdoc(shape) or "").partition("\n\n")[0]
    return _CITATION.sub("", " ".join(first.split()))
