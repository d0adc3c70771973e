import type { login as english } from "../en/login";
import type { TextsLike } from "../translate";

export const login = {
  "login.text": "Melden Sie sich an, um Ihre Fahrzeuge zu sehen.",
  "login.email": "E-Mail",
  "login.password": "Passwort",
  "login.show": "Passwort zeigen",
  "login.code": "Einmalcode",
  "login.codeText": "Geben Sie die sechs Ziffern ein, die Ihre Authentifizierungs-App zeigt.",
  "login.submit": "Anmelden",
  "login.wrong": "E-Mail oder Passwort ist falsch.",
  "login.wrongCode": "Der Code ist falsch oder wurde schon benutzt.",
  "login.provider": "Mit Ihrer Organisation anmelden",
  "login.cancelled": "Die Anmeldung wurde abgebrochen.",
  "login.forgotten": "Passwort vergessen?",
  "login.sendLink": "Link zusenden",
  "login.mailed": "Falls es dieses Konto gibt, ist eine E-Mail mit einem Link unterwegs.",
  "login.newServer": "Dieser Server ist neu",
  "login.newServerText": "Das Konto, das Sie hier anlegen, wird sein Administrator.",
  "login.setupToken": "Einrichtungstoken",
  "login.setupTokenText":
    "Er steht am Ende des Links, den der Server beim Start ausgegeben hat. Der Link selbst trägt ihn ein.",
  "login.create": "Administrator anlegen",
  "login.register": "Konto anlegen",
  "login.registerText": "Wählen Sie ein Passwort mit mindestens 8 Zeichen.",
  "login.haveAccount": "Ich habe ein Konto",
  "login.resetTitle": "Neues Passwort wählen",
  "login.newPassword": "Neues Passwort",
  "login.again": "Passwort wiederholen",
  "login.different": "Die beiden Passwörter stimmen nicht überein.",
  "login.setPassword": "Passwort setzen",
  "login.passwordSet": "Das neue Passwort ist gesetzt. Melden Sie sich damit an.",
  "login.codesNeeded":
    "Dieser Server verlangt bei jeder Anmeldung einen Code einer Authentifizierungs-App. Richten Sie sie ein, um fortzufahren.",
  "login.back": "Zurück zur Anmeldung",
} satisfies TextsLike<typeof english>;
