import { connect as portugal } from "../pt/connect";
import type { TextsLike } from "../translate";

export const connect: TextsLike<typeof portugal> = {
  ...portugal,
  "connect.mayNot": "Você não pode adicionar veículos.",
  "connect.note.jt808": "câmeras veiculares e terminais com câmeras",
  "connect.note.phone": "aplicativos para celular",
  "connect.tracker": "Rastreador {title}",
  "connect.number.any": "Número do rastreador",
  "connect.hint.imei": "15 dígitos, na etiqueta do rastreador ou na caixa",
  "connect.hint.phone":
    "O número de telefone configurado no terminal, em geral o do chip. Os zeros à esquerda não contam.",
  "connect.hint.id": "Como está configurado no rastreador ou no aplicativo, ou impresso na etiqueta",
  "connect.hint.any": "IMEI, número de telefone ou identificador: o que o rastreador envia como seu",
  "connect.doubt.imeiLength": "Um IMEI tem 15 dígitos. Só alguns rastreadores enviam um número mais curto.",
  "connect.doubt.imeiDigit": "Não é um IMEI válido: provavelmente um dígito está errado.",
  "connect.doubt.phone": "Os terminais deste protocolo enviam de 6 a 20 dígitos.",
  "connect.nameHint": "Como o veículo se chama aqui. Sem nome, vale o número.",
  "connect.modelHint": "Estes escrevem algumas mensagens do seu próprio jeito.",
  "connect.inTracker": "Para configurar no rastreador",
  "connect.private":
    "Rastreadores em uma rede móvel não chegam a {host}. Use o endereço público deste servidor; um administrador pode informá-lo na configuração public.host.",
  "connect.message": "Por SMS para o rastreador",
  "connect.messageHint":
    "O texto usual, com a senha de fábrica. Os modelos variam: se não responder, consulte o manual.",
  "connect.qrAddress": "O endereço, para escanear",
  "connect.qrMessage": "O SMS, para escanear com um celular",
  "connect.phone": "Número de telefone do chip do rastreador",
  "connect.phoneHint": "Para enviar SMS a ele; opcional",
  "connect.anyPort":
    "Cada protocolo tem sua própria porta. Se o rastreador já está configurado, continue; senão, pergunte o protocolo ao vendedor.",
  "connect.add": "Adicionar e aguardar",
  "connect.waitFor": "Já cadastrado: aguardar {name}",
  "connect.other": "Outro rastreador",
  "connect.waiting": "Aguardando {number}",
  "connect.reports": "Está comunicando",
  "connect.noFixText":
    "Envia posições sem sinal de satélite. Leve-o para um lugar aberto, com vista para o céu.",
  "connect.noPosition": "Conectou-se e ainda não enviou nenhuma posição",
  "connect.noPositionText":
    "Endereço, porta e número estão certos. Muitos rastreadores só enviam a primeira posição com sinal de satélite ou com a ignição ligada.",
  "connect.shutText": "Está desativado ou expirou, por isso o rastreador é recusado.",
  "connect.knocks": "{number} está tentando se conectar",
  "connect.knocksText": "Foi recusado antes e será aceito na próxima tentativa, em geral em alguns minutos.",
  "connect.otherNumber": "Conecta-se com outro número: {number}",
  "connect.otherPortText": "Configure a porta {port} no rastreador.",
  "connect.otherPortOff": "Este servidor não atende esse protocolo.",
  "connect.checksum": "As mensagens são descartadas: valor de verificação errado",
  "connect.checksumText":
    "Os bytes mudam no caminho, ou ele usa outra variante do protocolo. Verifique conversores ou uma linha serial entre o modem e o rastreador, e o firmware.",
  "connect.broken": "Não é possível ler as mensagens",
  "connect.brokenText": "O servidor diz: {problem}. Talvez use outro protocolo que não o da porta.",
  "connect.nothing": "Nada recebido ainda",
  "connect.nothingText": "Esta página mostra assim que ele comunicar.",
  "connect.others": "Recebidos, sem veículo",
  "connect.nameless": "Não informou o número",
  "connect.checks": "Se continuar sem comunicar",
  "connect.checkPower": "O rastreador está ligado e tem sinal de celular?",
  "connect.checkSim": "O chip tem dados, e o APN da operadora está configurado?",
  "connect.checkNumber": "Ele envia {number} como número? Um que difira em um dígito é recusado.",
  "connect.seesAll":
    "Rastreadores que chegam com outros números, ou com mensagens que não podem ser lidas, aparecem aqui.",
  "connect.askAdministrator":
    "Um administrador vê nesta página com que número ele chega, ou o que está errado nas mensagens. Envie o link.",
  "connect.later": "Agora não, ir para o veículo",
  "connect.another": "Conectar outro",
};
