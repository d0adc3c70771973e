import type { login as portugal } from "../pt/login";
import type { TextsLike } from "../translate";

export const login: Partial<TextsLike<typeof portugal>> = {
  "login.text": "Entre para ver seus veículos.",
  "login.password": "Senha",
  "login.show": "Mostrar a senha",
  "login.code": "Código de uso único",
  "login.codeText": "Digite os seis dígitos que seu aplicativo autenticador mostra.",
  "login.wrong": "E-mail ou senha incorretos.",
  "login.wrongCode": "O código está incorreto ou já foi usado.",
  "login.cancelled": "O login foi cancelado.",
  "login.forgotten": "Esqueceu a senha?",
  "login.mailed": "Se essa conta existir, um e-mail com um link está a caminho.",
  "login.newServerText": "A conta que você criar aqui será a do administrador.",
  "login.setupTokenText": "Está no fim do link que o servidor mostrou ao iniciar. O próprio link o preenche.",
  "login.registerText": "Escolha uma senha com pelo menos 8 caracteres.",
  "login.resetTitle": "Escolha uma nova senha",
  "login.newPassword": "Nova senha",
  "login.again": "Repita a senha",
  "login.different": "As duas senhas não são iguais.",
  "login.setPassword": "Definir a senha",
  "login.passwordSet": "A nova senha foi definida. Entre com ela.",
  "login.codesNeeded":
    "Este servidor pede em cada login um código de um aplicativo autenticador. Configure-o para continuar.",
  "login.back": "Voltar ao login",
};
