import type { words as english } from "../en/words";
import type { TextsLike } from "../translate";

export const words = {
  "words./fleet":
    "mapa vehículos coches autos carros camiones furgonetas unidades lista rastreo rastreadores posiciones dónde inicio panel flota",
  "words./live":
    "video vídeo cámaras cámara vivo directo transmisión pared mosaico videowall ver dashcam cctv",
  "words./library":
    "grabaciones videos clips vídeo descargar medios guardados capturas fotos fotografías imágenes galería pruebas evidencias",
  "words./reports":
    "informe reporte estadísticas viajes paradas kilómetros distancia combustible ralentí conductores tabla excel csv exportar totales",
  "words./overview": "resumen tablero inicio cifras mañana hoy dashboard",
  "words./zones": "geocercas geocerca geovallas geovalla áreas lugares sitios depósitos polígono",
  "words./events":
    "alarmas alarma alertas avisos notificaciones bandeja incidentes revisar revisión confirmar descartar pendientes infracciones exceso velocidad registro sos sonido",
  "words./tickets":
    "tickets mesa ayuda soporte asistencia tablero kanban casos incidencias solicitudes reclamaciones quejas sla vencidos asignados cola",
  "words./commands":
    "comando comandos registro historial enviados cola respuesta motor bloquear inmovilizar remoto quién",
  "words./schedules": "programación programar automático semanal noche temporizador comandos",
  "words./reports/scheduled": "correo semanal diario mensual automático enviar informe",
  "words./calendars": "calendario horario turnos festivos feriados ical semana",
  "words./connect": "añadir agregar vehículo dispositivo equipo gps terminal imei instalar registrar nuevo",
  "words./admin": "administración ajustes configurar gestión usuarios permisos",
  "words./admin/users":
    "cuentas personas empleados derechos roles permisos invitar bloquear contraseña sesiones administradores gestores",
  "words./admin/groups": "flotas departamentos carpetas árbol jerarquía",
  "words./admin/links": "permisos derechos acceso asignar quién ve qué",
  "words./admin/devices":
    "dispositivos flota tabla lista masivo importar exportar csv excel archivar grupos columnas",
  "words./admin/drivers": "conductor chofer llave tarjeta ibutton rfid quién conduce",
  "words./admin/maintenance": "servicio aceite inspección revisión restablecer kilómetros horas reparación",
  "words./admin/orders": "pedido transporte entrega",
  "words./admin/attributes": "atributo calculado expresión fórmula sensor",
  "words./admin/commands": "comando guardado plantilla",
  "words./admin/notifications": "notificar avisar aviso correo sms telegram webhook quién se entera mensaje",
  "words./admin/server":
    "servidor ajustes configuración administración admin sistema smtp correo email sms telegram notificaciones mapa calles satélite direcciones sso openid retención almacenamiento cuota límites",
  "words./helpdesk":
    "mesa ayuda empresas empresa tickets configurar equipos agentes contactos sla niveles servicio horario categorías prioridades flujo sucursales webhook reglas clientes soporte",
  "words./helpdesk/new": "mesa ayuda empresa añadir crear nueva empezar",
  "words./zones/new": "dibujar geocerca geovalla área polígono círculo corredor crear",
  "words./account": "ajustes configuración preferencias perfil usuario opciones nombre correo teléfono",
  "words.alarm": "última alerta sos pánico emergencia",
  "words.secondWindow": "pantalla monitor segunda abrir",
  "words.help": "ayuda teclas atajos teclado manual soporte",
  "words.logout": "salir cerrar sesión logout terminar",
  "words.theme": "tema apariencia colores modo noche día contraste",
  "words.language": "idioma lengua traducción textos",
  "words.preferences":
    "ajustes unidades unidad km millas nudos zona horaria formato coordenadas columnas atajos",
  "words.password": "ajustes contraseña clave seguridad cambiar",
  "words.codes": "ajustes seguridad dos factores 2fa totp autenticador",
  "words.sessions": "ajustes dispositivos navegadores accesos dónde",
  "words.tokens": "ajustes api acceso programa integración",
  "words.shares": "ajustes enlaces invitados públicos",
  "words.live.vehicle": "video vídeo cámara cámaras ver imagen dashcam",
  "words.history.vehicle":
    "viajes viaje trayectos recorridos paradas estacionamiento ruta rutas recorrido informe informes reporte exportar excel csv gpx kml distancia kilometraje kilómetros velocidad día ayer pasado grabaciones",
  "words.events.vehicle": "alarmas alertas avisos notificaciones registro incidentes",
  "words.commands.vehicle":
    "comando motor encendido parar inmovilizar bloquear desbloquear reiniciar enviar sms salida",
  "words.settings.vehicle": "editar cambiar nombre número modelo eliminar quitar atributos grupo",
  "words.follow": "seguir centrar mapa localizar",
  "words.share": "enlace invitado público enviar ubicación",
} satisfies TextsLike<typeof english>;
