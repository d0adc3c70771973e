import type { meanings as english } from "../en/meanings";
import type { TextsLike } from "../translate";

export const meanings = {
  "meaning.map.tiles":
    "Calles: `openfreemap`, `none` o la dirección de un estilo de MapLibre, de teselas ráster o de teselas vectoriales con `{z}`, `{x}` y `{y}`. Los navegadores consultan a su servidor.",
  "meaning.map.tiles_dark": "La dirección en el tema oscuro. Sin fijar: la de `tiles`.",
  "meaning.map.attribution":
    "A quién indica el mapa como fuente de `tiles` o `file`, además de lo que diga el propio estilo.",
  "meaning.map.file":
    "Archivo PMTiles en la carpeta de datos, como `map/region.pmtiles`, en lugar de `openfreemap`.",
  "meaning.map.layers":
    "Otras capas para elegir en el mapa, cada una con nombre, dirección y fuente: `Satellite https://tiles.example.org/{z}/{x}/{y}.jpg © Somebody`.",
  "meaning.map.hosts":
    "Otros servidores a los que remite un estilo: `https://fonts.example.org`, `https://*.tiles.example.org`.",
  "meaning.map.share_tiles":
    "Si los invitados de enlaces compartidos también ven capas de otros servidores. Sin fijar: salvo que `tiles` sea `openfreemap`.",
  "meaning.mail.host": "Dirección del servidor de correo. Junto con `address`, permite enviar correos.",
  "meaning.mail.port": "Puerto del servidor de correo. 0: 465 con `tls`, 587 con `starttls`, 25 con `none`.",
  "meaning.mail.security":
    "Cómo se protege la conexión. Los certificados se comprueban, también con `SSL_CERT_FILE`.",
  "meaning.mail.username": "Usuario con el que el servidor inicia sesión. Sin fijar: sin inicio de sesión.",
  "meaning.mail.password": "La contraseña correspondiente.",
  "meaning.mail.address": "Remitente de los correos: `fleet@example.org`.",
  "meaning.mail.name": "Nombre que se muestra junto a la dirección del remitente.",
  "meaning.mail.seconds": "Tiempo máximo para entregar un correo.",
  "meaning.sms.url":
    "Dirección de la petición. Si está fijada, se envían SMS. Puede contener `{phone}`, `{message}` e `{id}`.",
  "meaning.sms.method": "Método de la petición.",
  "meaning.sms.headers": "Otras líneas de cabecera: `X-Api-Key: 123`.",
  "meaning.sms.authorization": "Valor de la cabecera `Authorization`.",
  "meaning.sms.template":
    "Cuerpo de la petición, salvo con `GET`: JSON o un formulario como `to={phone}&text={message}`.",
  "meaning.sms.seconds": "El servicio de SMS responde en este tiempo.",
  "meaning.sms.per_user":
    "SMS que un usuario puede enviar en una hora como comandos, pruebas y anuncios. Los administradores pueden enviar anuncios a cualquier número de usuarios.",
  "meaning.sms.per_hour": "SMS de ese tipo que todos los usuarios juntos pueden enviar en una hora.",
  "meaning.telegram.token": "Token del bot que envía notificaciones. Sin fijar: no se envía ninguna.",
  "meaning.telegram.url": "La API de bots, que puede ser un servidor propio.",
  "meaning.pushover.token":
    "Token de la aplicación que envía notificaciones. Sin fijar: no se envía ninguna.",
  "meaning.pushover.url": "La API de Pushover.",
  "meaning.ntfy.url": "El servidor, que puede ser uno propio.",
  "meaning.ntfy.token":
    "Token de acceso de la cuenta que envía notificaciones. Sin fijar y sin `username` ni `anonymous`: no se envía ninguna.",
  "meaning.ntfy.username": "Nombre de la cuenta, en lugar de un token.",
  "meaning.ntfy.password": "La contraseña correspondiente.",
  "meaning.ntfy.anonymous":
    "Si las notificaciones se publican sin cuenta, donde el servidor se lo permite a todos.",
  "meaning.geocoder.type": "Tipo de geocodificador. Si está fijado, se buscan direcciones.",
  "meaning.geocoder.url": "Dirección de un geocodificador propio. Sin fijar: el público de ese tipo.",
  "meaning.geocoder.key": "La clave que le asignó el geocodificador.",
  "meaning.geocoder.language": "Idioma de las direcciones: `de`. Sin fijar: el que elija el geocodificador.",
  "meaning.geocoder.format":
    "Formato de una dirección: `%h` número, `%r` calle, `%t` localidad, `%u` barrio, `%d` distrito, `%s` estado o comunidad, `%c` país, `%p` código postal, `%f` como la escribe el geocodificador.",
  "meaning.geocoder.cache_size": "Direcciones que se recuerdan.",
  "meaning.geocoder.per_second":
    "Consultas por segundo como máximo, como exige el Nominatim público. 0: sin límite.",
  "meaning.geocoder.seconds": "Una dirección se encuentra en este tiempo, incluida la espera en la cola.",
  "meaning.geocoder.on_request": "Si los informes buscan las direcciones que faltan en las posiciones.",
  "meaning.geocoder.request_seconds":
    "Tiempo máximo que un informe espera las direcciones; omite las que no se hayan encontrado.",
  "meaning.geocoder.positions": "Si cada posición guardada recibe una dirección, poco después de guardarse.",
  "meaning.geocoder.reuse_metres":
    "Una posición así de cercana a la última del vehículo con dirección recibe la misma dirección.",
  "meaning.openid.issuer":
    "La dirección del proveedor (issuer). Lo demás se lee de su documento de descubrimiento.",
  "meaning.openid.client_id": "El ID con el que el proveedor conoce este servidor.",
  "meaning.openid.client_secret": "El secreto correspondiente.",
  "meaning.openid.force": "Desactiva las contraseñas: todos los usuarios inician sesión con el proveedor.",
  "meaning.openid.allow_registration":
    "Crea usuarios desconocidos en su primer inicio de sesión, aunque el registro esté cerrado.",
  "meaning.openid.scopes": "Los ámbitos que se piden al proveedor.",
  "meaning.openid.groups_claim": "El campo (claim) que contiene los grupos de un usuario.",
  "meaning.openid.admin_group": "Quien está en este grupo es administrador.",
  "meaning.openid.allow_group": "Solo puede entrar quien está en este grupo o en `admin_group`.",
  "meaning.openid.require_verified":
    "Rechaza a quien llega sin `email_verified`; para proveedores donde cualquiera puede escribir cualquier dirección.",
  "meaning.positions.retention_days":
    "Las posiciones se eliminan cuando ha pasado este tiempo desde su recepción, salvo la última de cada vehículo. 0: nunca. Sin fijar: 730 en una instalación nueva, 0 en una base de datos creada antes de que existiera este valor predeterminado.",
  "meaning.events.retention_days":
    "Los eventos se eliminan después de este tiempo. 0: nunca. Sin fijar: 730 en una instalación nueva, si no, 0.",
  "meaning.audit.retention_days":
    "Las entradas del registro de auditoría se eliminan después de este tiempo. 0: nunca. Sin fijar: 730 en una instalación nueva, si no, 0.",
  "meaning.statistics.retention_days":
    "Las estadísticas se eliminan después de este tiempo. 0: nunca. Sin fijar: 730 en una instalación nueva, si no, 0.",
  "meaning.schedules.retention_days":
    "Las ejecuciones de comandos programados se eliminan después de este tiempo. 0: nunca.",
  "meaning.files.quota_bytes":
    "Espacio máximo en disco de las fotos y archivos de alarmas en total; los más antiguos se eliminan primero. 0: sin límite. Sin fijar: 10737418240 (10 GiB) en una instalación nueva, 0 en una base de datos creada antes de que existiera este valor predeterminado.",
  "meaning.files.device_quota_bytes":
    "Espacio máximo en disco de las fotos y archivos de alarmas de un vehículo; los más antiguos se eliminan primero. 0: sin límite. Sin fijar: 1073741824 (1 GiB) en una instalación nueva, si no, 0.",
  "meaning.files.retention_days":
    "Las fotos y archivos de alarmas se eliminan después de este tiempo. 0: nunca. Sin fijar: 730 en una instalación nueva, si no, 0.",
  "meaning.captures.quota_bytes":
    "Espacio máximo en disco de todas las capturas; los archivos más antiguos se eliminan primero. 0: sin límite. Sin fijar: 10737418240 (10 GiB) en una instalación nueva, si no, 0.",
  "meaning.captures.retention_days":
    "Los archivos de capturas se eliminan después de este tiempo. 0: nunca. Sin fijar: 730 en una instalación nueva, si no, 0.",
  "meaning.quotas.user_records":
    "Zonas que puede crear un usuario, y otros tantos conductores, pedidos, mantenimientos, calendarios, comandos guardados y grupos. A los administradores los limita lo que pueden tener todos.",
  "meaning.quotas.user_bytes":
    "Tamaño de los atributos, áreas y textos de calendarios de las zonas que crea un usuario, y otro tanto de cada uno de los demás tipos de `user_records` y `user_tasks`, y de los dispositivos.",
  "meaning.quotas.user_geofence_points": "Puntos de todas las zonas que crea un usuario.",
  "meaning.quotas.user_tasks":
    "Notificaciones que puede crear un usuario, y otros tantos comandos programados e informes programados.",
  "meaning.quotas.user_calendar_cost":
    "Coste de todos los calendarios que crea un usuario; los turnos de una semana cuestan unos cientos de pasos.",
  "meaning.quotas.user_notified":
    "Destinatarios de las notificaciones que crea un usuario: cada evento se comprueba para cada uno de ellos.",
  "meaning.quotas.user_ticket_rules": "Reglas de tickets de todas las empresas que crea un usuario.",
  "meaning.quotas.user_kept_bytes":
    "Tamaño de las capturas y archivos que un usuario conserva sin que los eliminen la antigüedad ni la cuota. A los administradores los limita lo que pueden conservar todos.",
  "meaning.quotas.server_kept_bytes": "Tamaño de las capturas y archivos que conservan todos los usuarios.",
  "meaning.quotas.server_records":
    "Zonas de todos los usuarios, y otros tantos registros de cada uno de los demás tipos de `user_records`.",
  "meaning.quotas.server_bytes": "Tamaño de cada tipo de `user_bytes` de todos los usuarios.",
  "meaning.quotas.server_geofence_points": "Puntos de las zonas de todos los usuarios.",
  "meaning.quotas.server_tasks":
    "Notificaciones de todos los usuarios, y otros tantos comandos programados e informes programados.",
  "meaning.quotas.server_calendar_cost": "Coste de los calendarios de todos los usuarios.",
  "meaning.quotas.server_notified": "Destinatarios de las notificaciones de todos los usuarios.",
  "meaning.quotas.server_ticket_rules": "Reglas de tickets de todas las empresas.",
  "meaning.quotas.device_geofences":
    "Zonas vinculadas a un vehículo, directamente o por sus grupos: una posición puede generar un evento de cada una.",
  "meaning.quotas.device_geofence_points":
    "Puntos de esas zonas: puede que haya que comparar una posición con cada lado entre dos de ellos.",
  "meaning.quotas.device_computed_attributes":
    "Atributos calculados vinculados a un vehículo, directamente o por sus grupos.",
  "meaning.quotas.device_expression_characters":
    "Caracteres de las expresiones de esos atributos calculados.",
  "meaning.quotas.device_maintenances":
    "Mantenimientos vinculados a un vehículo, directamente o por sus grupos.",
  "meaning.quotas.device_notifications":
    "Notificaciones vinculadas a un vehículo, directamente o por sus grupos.",
  "meaning.quotas.device_scheduled_steps":
    "Pasos de los comandos programados vinculados a un vehículo, directamente o por sus grupos.",
  "meaning.quotas.device_linked_devices": "Dispositivos que viajan con un vehículo.",
  "meaning.quotas.sensor_limits":
    "Sensores con límites en los atributos de un vehículo, un grupo o el servidor: una posición se compara con los de su vehículo, los de sus grupos y los del servidor.",
  "unit.messages": "SMS",
  "unit.places": "lugares",
  "unit.days": "días",
  "unit.bytes": "bytes",
  "unit.points": "puntos",
  "unit.steps": "pasos",
  "unit.links": "destinatarios",
  "unit.rules": "reglas",
  "unit.characters": "caracteres",
  "unit.sensors": "sensores",
} satisfies TextsLike<typeof english>;
