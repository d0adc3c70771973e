import type { login as english } from "../en/login";
import type { TextsLike } from "../translate";

export const login = {
  "login.text": "Inicie sesión para ver sus vehículos.",
  "login.email": "Correo electrónico",
  "login.password": "Contraseña",
  "login.show": "Mostrar la contraseña",
  "login.code": "Código de un solo uso",
  "login.codeText": "Escriba los seis dígitos que muestra su aplicación de autenticación.",
  "login.submit": "Iniciar sesión",
  "login.wrong": "El correo o la contraseña no son correctos.",
  "login.wrongCode": "El código no es correcto o ya se usó.",
  "login.provider": "Iniciar sesión con su organización",
  "login.cancelled": "El inicio de sesión se canceló.",
  "login.forgotten": "¿Olvidó la contraseña?",
  "login.sendLink": "Enviarme un enlace",
  "login.mailed": "Si esa cuenta existe, va en camino un correo con un enlace.",
  "login.newServer": "Este servidor es nuevo",
  "login.newServerText": "La cuenta que cree aquí será la de su administrador.",
  "login.setupToken": "Token de configuración",
  "login.setupTokenText":
    "Está al final del enlace que el servidor mostró al arrancar. El propio enlace lo rellena.",
  "login.create": "Crear el administrador",
  "login.register": "Crear una cuenta",
  "login.registerText": "Elija una contraseña de al menos 8 caracteres.",
  "login.haveAccount": "Ya tengo una cuenta",
  "login.resetTitle": "Elija una contraseña nueva",
  "login.newPassword": "Contraseña nueva",
  "login.again": "Repita la contraseña",
  "login.different": "Las dos contraseñas no coinciden.",
  "login.setPassword": "Establecer la contraseña",
  "login.passwordSet": "La contraseña nueva está establecida. Inicie sesión con ella.",
  "login.codesNeeded":
    "Este servidor pide en cada inicio de sesión un código de una aplicación de autenticación. Configúrela para seguir.",
  "login.back": "Volver al inicio de sesión",
} satisfies TextsLike<typeof english>;
