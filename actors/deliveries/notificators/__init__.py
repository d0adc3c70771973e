"""The notificators that send messages to users; `web` and `command` have no messages (docs/events.md)."""

from motorpool.actors.deliveries.notificator import Notificator
from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.deliveries.notificators.ntfy import Ntfy
from motorpool.actors.deliveries.notificators.pushover import Pushover
from motorpool.actors.deliveries.notificators.sms import Sms
from motorpool.actors.deliveries.notificators.telegram import Telegram
from motorpool.actors.deliveries.notificators.webhook import Webhook

NOTIFICATORS: tuple[type[Notificator], ...] = (Mail, Sms, Telegram, Pushover, Ntfy, Webhook)
"""In the order in which they are listed."""
