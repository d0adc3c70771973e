import type { admin as english } from "../en/admin";
import type { TextsLike } from "../translate";

export const admin = {
  "admin.mayNot": "No puede ver esta sección de la administración.",
  "admin.users": "Usuarios",
  "admin.usersText": "Quién puede entrar, qué puede hacer cada uno y dónde tiene sesiones abiertas.",
  "admin.groups": "Grupos",
  "admin.groupsText": "Vehículos en un árbol, para asignarlos juntos.",
  "admin.links": "Vínculos",
  "admin.linksText": "Qué tiene cada usuario, grupo o vehículo, por sí mismo o por un grupo.",
  "admin.settings": "Ajustes",
  "admin.settingsText":
    "Correo, mapas, inicios de sesión, cuánto se conserva y cuánto pueden guardar los usuarios.",
  "admin.helpdeskText":
    "Empresas cuyas personas responden a los tickets: equipos, prioridades, flujo y reglas.",
  "admin.devices": "Vehículos",
  "admin.devicesText": "Todos los vehículos en una tabla: cambiar varios, archivos, grupos, archivo.",
  "admin.drivers": "Conductores",
  "admin.driversText": "Quién conduce: nombres, llaves y tarjetas, y quién conduce qué ahora.",
  "admin.maintenance": "Mantenimiento",
  "admin.maintenanceText": "Qué toca por distancia, horas o fecha, y qué se hizo.",
  "admin.orders": "Pedidos",
  "admin.ordersText": "Qué se lleva de dónde a dónde.",
  "admin.attributes": "Atributos calculados",
  "admin.attributesText": "Valores que las expresiones dan de cada posición.",
  "admin.commands": "Comandos guardados",
  "admin.commandsText": "Comandos que se envían con una pulsación, por programaciones y notificaciones.",
  "admin.group.people": "Personas",
  "admin.group.vehicles": "Vehículos",
  "admin.group.automation": "Automatización",
  "admin.group.server": "Servidor",
  "admin.notifications": "Notificaciones",
  "admin.notificationsText":
    "Qué eventos llegan a quién y por qué vía: esta página, correo, mensaje de texto. Con un ensayo sobre los eventos de ayer.",
  "admin.statistics": "Estadísticas",
  "admin.statisticsText": "Solicitudes, usuarios y vehículos activos y mensajes de cada día.",
  "admin.actors": "Partes internas",
  "admin.actorsText":
    "Las partes en marcha del servidor como un árbol: qué espera, qué se reinició. Para buscar fallos.",
  "admin.status": "Estado",
  "admin.statusText":
    "Si el servidor funciona: disco, memoria, base de datos, servidores del clúster. Reinicio.",
  "admin.storage": "Almacenamiento",
  "admin.storageText": "Qué ocupa espacio, qué crece y cuánto se conserva.",
  "admin.audit": "Registro de auditoría",
  "admin.auditText": "Quién hizo qué, cuándo y desde dónde.",
  "admin.backup": "Copia y claves",
  "admin.backupText": "Descargar todo en un archivo y cambiar la clave que firma los accesos.",
  "admin.announcement": "Anuncio",
  "admin.announcementText": "Lo que todos ven en sus páginas, y mensajes a muchos.",
} satisfies TextsLike<typeof english>;
