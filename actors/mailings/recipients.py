"""Who may be sent a mail."""

from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.storage.records import User


def is_reachable(user: User, mail: Mail) -> bool:
    """Whether a mail to a user can be sent: they have an address, and the server or they a mail account."""
    return not user.temporary and mail.enabled_for(user.attributes) and mail.can_reach(user.email)
