"""Builds the outgoing services that the settings configure."""

from urllib.parse import urlsplit

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries import (
    GeocoderService,
    OutgoingServices,
    PushoverService,
    SmsGateway,
    SmtpAccount,
    TelegramService,
)
from motorpool.actors.deliveries.smtp import Security
from motorpool.actors.http.address_guard import OwnServer
from motorpool.api.program.settings import (
    GeocoderSettings,
    MailSettings,
    PushoverSettings,
    Settings,
    SmsSettings,
    TelegramSettings,
)
from motorpool.api.program.version import program_version
from motorpool.runtime import Clock


def build_outgoing_services(
    settings: Settings, clock: Clock, shared: SharedAttempts | None = None
) -> OutgoingServices:
    """The one OutgoingServices of a server; `shared` counts text messages for all servers of a cluster."""
    return OutgoingServices(
        allow=settings.webhook.allow,
        own=_own_server(settings),
        mail=_mail(settings.mail),
        sms=_sms(settings.sms),
        geocoder=_geocoder(settings.geocoder),
        telegram=_telegram(settings.telegram),
        pushover=_pushover(settings.pushover),
        version=program_version(),
        monotonic=clock.monotonic,
        shared=shared,
    )


def _own_server(settings: Settings) -> OwnServer:
    public = urlsplit(settings.public_url)
    hosts = (public.hostname, settings.public.host, settings.device.host)
    ports = {80, 443, settings.address[1], public.port or 443}
    return OwnServer(tuple(host for host in hosts if host), frozenset(ports))


def _mail(settings: MailSettings) -> SmtpAccount | None:
    if settings.host is None or settings.address is None:
        return None
    securities: dict[str, Security] = {"none": "none", "starttls": "starttls", "tls": "tls"}
    return SmtpAccount(
        host=settings.host,
        port=settings.port,
        security=securities[settings.security],
        username=settings.username or "",
        password=settings.password or "",
        address=settings.address,
        name=settings.name,
        seconds=settings.seconds,
        trusted=True,
    )


def _sms(settings: SmsSettings) -> SmsGateway | None:
    if settings.url is None:
        return None
    return SmsGateway(
        url=settings.url,
        method=settings.method,
        headers=settings.headers,
        authorization=settings.authorization or "",
        template=settings.template,
        seconds=settings.seconds,
        per_user=settings.per_user,
        per_hour=settings.per_hour,
    )


def _telegram(settings: TelegramSettings) -> TelegramService | None:
    if settings.token is None:
        return None
    return TelegramService(token=settings.token, url=settings.url.rstrip("/"))


def _pushover(settings: PushoverSettings) -> PushoverService | None:
    if settings.token is None:
        return None
    return PushoverService(token=settings.token, url=settings.url.rstrip("/"))


def _geocoder(settings: GeocoderSettings) -> GeocoderService | None:
    if settings.type is None:
        return None
    return GeocoderService(
        type=settings.type,
        url=settings.url or "",
        key=settings.key or "",
        language=settings.language or "",
        format=settings.format,
        cache_size=settings.cache_size,
        per_second=settings.per_second,
        seconds=settings.seconds,
        on_request=settings.on_request,
        request_seconds=settings.request_seconds,
        positions=settings.positions,
        reuse_metres=settings.reuse_metres,
    )
