"""The texts of mails in the languages of users; what a language lacks is English."""

from collections.abc import Mapping
from datetime import datetime
from html import escape

import msgspec

from motorpool.actors.preferences import Preferences
from motorpool.actors.printable import printable_line

__all__ = ["Text", "local_time", "write"]


class Text(msgspec.Struct, frozen=True):
    """A mail; both fields may have values in braces."""

    subject: str
    body: str


TEXTS: Mapping[str, Mapping[str, Text]] = {
    "en": {
        "scheduledReport": Text("Report: {title}", "The report for {start} to {end} is ready:"),
        "deviceExpiration": Text("Device expired: {name}", "The device {name} expired on {time}."),
        "deviceExpirationReminder": Text(
            "Device expires: {name}", "The device {name} will expire on {time}."
        ),
        "userExpiration": Text("Account expired", "Your account {name} expired on {time}."),
        "userExpirationReminder": Text("Account expires", "Your account {name} will expire on {time}."),
        "ticketAssigned": Text(
            "Ticket #{number} assigned: {subject}",
            "Ticket #{number} was assigned to you on {time}: {subject}",
        ),
        "ticketBreached": Text(
            "Ticket #{number} overdue: {subject}", "Ticket #{number} missed its service level: {subject}"
        ),
    },
    "de": {
        "scheduledReport": Text("Bericht: {title}", "Der Bericht für {start} bis {end} liegt bereit:"),
        "deviceExpiration": Text("Gerät abgelaufen: {name}", "Das Gerät {name} ist am {time} abgelaufen."),
        "deviceExpirationReminder": Text("Gerät läuft ab: {name}", "Das Gerät {name} läuft am {time} ab."),
        "userExpiration": Text("Konto abgelaufen", "Ihr Konto {name} ist am {time} abgelaufen."),
        "userExpirationReminder": Text("Konto läuft ab", "Ihr Konto {name} läuft am {time} ab."),
        "ticketAssigned": Text(
            "Ticket #{number} zugewiesen: {subject}",
            "Ticket #{number} wurde Ihnen am {time} zugewiesen: {subject}",
        ),
        "ticketBreached": Text(
            "Ticket #{number} überfällig: {subject}",
            "Ticket #{number} hat seine Servicezeit überschritten: {subject}",
        ),
    },
    "es": {
        "scheduledReport": Text("Informe: {title}", "El informe de {start} a {end} está listo:"),
        "deviceExpiration": Text("Dispositivo caducado: {name}", "El dispositivo {name} caducó el {time}."),
        "deviceExpirationReminder": Text(
            "Dispositivo por caducar: {name}", "El dispositivo {name} caducará el {time}."
        ),
        "userExpiration": Text("Cuenta caducada", "Su cuenta {name} caducó el {time}."),
        "userExpirationReminder": Text("Cuenta por caducar", "Su cuenta {name} caducará el {time}."),
        "ticketAssigned": Text(
            "Ticket #{number} asignado: {subject}", "El ticket #{number} se le asignó el {time}: {subject}"
        ),
        "ticketBreached": Text(
            "Ticket #{number} vencido: {subject}",
            "El ticket #{number} incumplió su nivel de servicio: {subject}",
        ),
    },
    "fr": {
        "scheduledReport": Text("Rapport : {title}", "Le rapport du {start} au {end} est prêt :"),
        "deviceExpiration": Text("Appareil expiré : {name}", "L'appareil {name} a expiré le {time}."),
        "deviceExpirationReminder": Text(
            "Expiration prochaine : {name}", "L'appareil {name} expirera le {time}."
        ),
        "userExpiration": Text("Compte expiré", "Votre compte {name} a expiré le {time}."),
        "userExpirationReminder": Text("Expiration du compte", "Votre compte {name} expirera le {time}."),
        "ticketAssigned": Text(
            "Ticket #{number} attribué : {subject}",
            "Le ticket #{number} vous a été attribué le {time} : {subject}",
        ),
        "ticketBreached": Text(
            "Ticket #{number} en retard : {subject}",
            "Le ticket #{number} n'a pas respecté son niveau de service : {subject}",
        ),
    },
    "zh": {
        "scheduledReport": Text("报告: {title}", "{start} 至 {end} 的报告已生成:"),
        "deviceExpiration": Text("设备已过期: {name}", "设备 {name} 已于 {time} 过期。"),
        "deviceExpirationReminder": Text("设备即将过期: {name}", "设备 {name} 将于 {time} 过期。"),
        "userExpiration": Text("账户已过期", "您的账户 {name} 已于 {time} 过期。"),
        "userExpirationReminder": Text("账户即将过期", "您的账户 {name} 将于 {time} 过期。"),
        "ticketAssigned": Text(
            "工单 #{number} 已分配: {subject}", "工单 #{number} 已于 {time} 分配给您: {subject}"
        ),
        "ticketBreached": Text(
            "工单 #{number} 已超时: {subject}", "工单 #{number} 未达到服务级别: {subject}"
        ),
    },
}
"""Language -> mail -> its text."""
MAX_VALUE_LENGTH = 200


def local_time(instant: datetime, preferences: Preferences) -> str:
    """Return YYYY-MM-DD HH:mm and the abbreviation of the zone, as a user reads it."""
    try:
        return f"{instant.astimezone(preferences.zone):%Y-%m-%d %H:%M %Z}"
    except OverflowError:
        return f"{instant:%Y-%m-%d %H:%M} UTC"


def write(
    name: str, preferences: Preferences, values: Mapping[str, str], *, link: str = ""
) -> tuple[str, str, str]:
    """Return subject, text and HTML of a mail. Values are reduced to one line of printable characters."""
    known = TEXTS.get(preferences.language, {})
    text = known.get(name) or TEXTS["en"][name]
    lines = {key: printable_line(value)[:MAX_VALUE_LENGTH] for key, value in values.items()}
    body = text.body.format_map(lines)
    plain = f"{body}\n\n{link}\n" if link else f"{body}\n"
    shown = f'<p><a href="{escape(link)}">{escape(link)}</a></p>' if link else ""
    return text.subject.format_map(lines), plain, f"<p>{escape(body)}</p>{shown}"
