from datetime import timedelta

from tests.actors.schedules.icalendar import NOW

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.mailings.ticket_mails import TicketMail, TicketMails


def mail(user, kind="ticketAssigned"):
    return TicketMail(kind, user.id, ticket_id=7, number=42, subject="No signal\r\nBcc: x@example.org")


async def test_assignees_are_mailed_in_their_language_with_a_link(database, outgoing, person, mails):
    ann = await person("ann", attributes={"language": "de", "timezone": "Europe/Berlin"})
    async with database.transaction() as transaction:
        sent = TicketMails(outgoing.mail, "https://fleet.example.org")
        await sent.enqueue(transaction, [mail(ann), mail(ann, "ticketBreached")], now=NOW)
    first, second = await mails()
    assert first.subject == "Ticket #42 zugewiesen: No signal Bcc: x@example.org"
    assert "am 2026-06-15 14:00 CEST zugewiesen" in first.text
    assert "https://fleet.example.org/tickets/7" in first.text
    assert (first.to, first.user_id) == ("ann@example.org", ann.id)
    assert second.subject.startswith("Ticket #42 überfällig")


async def test_only_those_who_want_them_and_can_be_reached_are_mailed(database, outgoing, person, mails):
    people = [
        await person("off", attributes={"ticketMails": False}),
        await person("gone", disabled=True),
        await person("old", expiration_time=NOW - timedelta(hours=1)),
        await person("ann"),
    ]
    async with database.transaction() as transaction:
        await TicketMails(outgoing.mail).enqueue(transaction, [mail(each) for each in people], now=NOW)
    assert [sent.to for sent in await mails()] == ["ann@example.org"]
    async with database.transaction() as transaction:
        unset = TicketMails(OutgoingServices().mail)
        await unset.enqueue(transaction, [mail(each) for each in people], now=NOW)
    assert len(await mails()) == 1
