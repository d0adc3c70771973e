"""The receiver counts each message once and sees when one comes out of its turn."""

import trio

from motorpool.bench.load.webhook_receiver import ANSWER, WebhookReceiver


def message(number, ticket_id, sequence):
    data = b'{"companyId":1,"ticketId":%d,"sequence":%d}' % (ticket_id, sequence)
    body = b'{"type":"ticket.created","data":%s}' % data
    head = b"POST /hook HTTP/1.1\r\nHost: x\r\nWebhook-Id: msg_1_%d\r\nContent-Length: %d\r\n\r\n"
    return head % (number, len(body)) + body


async def test_messages_are_counted_once_and_their_order_is_checked():
    receiver = WebhookReceiver()
    sent = b"".join(
        message(*each) for each in [(1, 7, 1), (2, 8, 1), (3, 7, 2), (3, 7, 2), (5, 7, 4), (4, 7, 3)]
    )
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receiver.serve, theirs)
        for first in range(0, len(sent), 100):
            await ours.send_all(sent[first : first + 100])
        answers = b""
        while len(answers) < 6 * len(ANSWER):
            answers += await ours.receive_some()
        await ours.send_eof()
    result = receiver.result(0.0)
    assert answers == ANSWER * 6
    assert (result.messages, result.repeated, result.out_of_order) == (5, 1, 2)
