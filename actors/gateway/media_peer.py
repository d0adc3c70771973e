"""Whose a media connection is, by the SIM of its first packet."""

from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import DEVICE, AttachConnection, DetachConnection
from motorpool.actors.video.media_requests import MEDIA_REQUESTS, IdentifyPublisher, PublisherDevice
from motorpool.runtime import ActorError, Context
from motorpool.storage.errors import StorageError


async def identify_peer(
    context: Context[ConnectionMessage], peer_socket: PeerSocket, sim: str, kind: str
) -> PublisherDevice | None:
    """Attach the connection to its device, and return that; None, and the socket is closed, for a stranger.

    `kind` is that of the port.
    """
    finder, ref, peer = context.system.ref(MEDIA_REQUESTS), context.ref, peer_socket.peer
    try:
        publisher = await finder.ask(IdentifyPublisher(sim, peer, kind))
        if publisher is None:
            peer_socket.close(f"media of an unknown SIM {sim}")
            return None
        device = context.system.ref(DEVICE, publisher.device_id)
        if not await device.ask(AttachConnection(ref, (publisher.unique_id,))):
            return None  # the device closes the connection
    except (ActorError, StorageError) as error:
        peer_socket.close(f"cannot be served now: {error}")
        return None
    if peer_socket.closed:
        device.offer(DetachConnection(ref))
        return None
    context.log.info("%s media of %s from %s", kind, publisher.unique_id, peer)
    return publisher
