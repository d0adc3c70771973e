import { words as portugal } from "../pt/words";
import type { TextsLike } from "../translate";

export const words: TextsLike<typeof portugal> = {
  ...portugal,
  "words./fleet":
    "mapa veículos carros caminhões viaturas lista rastreamento localização posições rastreadores onde início painel frota",
  "words./live":
    "vídeo câmeras câmera vivo transmissão parede mosaico videowall ver assistir dashcam cftv videomonitoramento",
  "words./library":
    "gravações filmes clipes vídeo baixar mídias salvos capturas fotografias fotos imagens galeria provas evidências",
  "words./reports":
    "relatório estatísticas viagens paradas quilômetros distância combustível marcha lenta motoristas tabela planilha excel csv exportar totais",
  "words./zones": "cercas cerca virtual geocercas geocerca áreas locais pontos garagens polígono",
  "words./events":
    "alarmes alarme alertas avisos notificações incidentes tratar tratativa confirmar descartar pendentes infrações excesso velocidade registro sos som",
  "words./tickets":
    "atendimento suporte chamados quadro kanban casos incidentes solicitações reclamações sla atrasados vencidos atribuídos fila",
  "words./commands":
    "comando registro histórico enviados fila resposta motor bloquear imobilizar remoto quem",
  "words./schedules": "agendamento agendar automático semanal noite temporizador comandos",
  "words./calendars": "calendário horário turnos feriados ical semana",
  "words./connect": "adicionar cadastrar veículo dispositivo equipamento gps terminal imei instalar novo",
  "words./admin": "administração configurações configurar gestão usuários permissões",
  "words./admin/users":
    "contas pessoas funcionários direitos funções permissões convidar bloquear senha sessões administradores gestores",
  "words./admin/devices":
    "dispositivos frota tabela lista massa importar exportar csv excel arquivar grupos colunas",
  "words./admin/drivers": "motorista chave cartão ibutton rfid quem dirige",
  "words./admin/maintenance": "serviço óleo inspeção revisão redefinir quilômetros horas reparo",
  "words./admin/orders": "pedido transporte entrega",
  "words./admin/attributes": "atributo calculado expressão fórmula sensor",
  "words./admin/commands": "comando salvo modelo",
  "words./admin/notifications": "notificar avisar aviso e-mail sms telegram webhook quem sabe mensagem",
  "words./admin/server":
    "servidor configurações administração admin sistema smtp e-mail email sms telegram notificações mapa ruas satélite endereços sso openid retenção armazenamento cota limites",
  "words./helpdesk":
    "empresas empresa chamados configurar equipes atendentes contatos sla prazos horário categorias prioridades fluxo filiais webhook regras clientes suporte",
  "words./helpdesk/new": "atendimento empresa adicionar criar nova começar",
  "words./zones/new": "desenhar cerca virtual geocerca área polígono círculo corredor criar",
  "words./account": "configurações preferências perfil usuário opções nome email telefone",
  "words.secondWindow": "tela monitor segunda abrir",
  "words.logout": "encerrar sessão logout fechar sair",
  "words.theme": "tema aparência cores modo noite dia contraste",
  "words.preferences":
    "configurações unidades unidade km milhas nós fuso horário formato coordenadas colunas atalhos",
  "words.password": "configurações senha segurança mudar trocar",
  "words.codes": "configurações segurança dois fatores 2fa totp autenticador",
  "words.sessions": "configurações dispositivos navegadores logins onde",
  "words.tokens": "configurações api acesso programa integração",
  "words.shares": "configurações links convidados compartilhamento",
  "words.live.vehicle": "vídeo câmera câmeras ver imagem dashcam",
  "words.history.vehicle":
    "viagens viagem paradas estacionamento percurso rota trajeto relatório relatórios exportar excel csv gpx kml distância quilometragem quilômetros velocidade dia ontem passado gravações",
  "words.events.vehicle": "alarmes alertas avisos notificações registro incidentes",
  "words.settings.vehicle": "editar renomear mudar nome número modelo excluir remover atributos grupo",
  "words.share": "link convidado público enviar localização",
};
