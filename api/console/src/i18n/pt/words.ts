export const words = {
  "words./fleet":
    "mapa veículos carros camiões viaturas lista localização posições rastreadores onde início painel frota",
  "words./live": "vídeo câmaras câmara vivo ao direto transmissão parede mosaico ver dashcam",
  "words./library":
    "gravações filmes clipes vídeo descarregar médias guardados capturas fotografias fotos imagens galeria provas",
  "words./reports":
    "relatório estatísticas viagens paragens quilómetros distância combustível ralenti condutores tabela excel csv exportar totais",
  "words./overview": "resumo painel início números manhã hoje dashboard",
  "words./zones": "geocercas geocerca cercas áreas locais depósitos polígono",
  "words./events":
    "alarmes alarme alertas avisos notificações incidentes rever revisão confirmar rejeitar pendentes infrações excesso velocidade registo sos som",
  "words./tickets":
    "helpdesk suporte assistência apoio quadro kanban casos ocorrências reclamações tickets sla atrasados atribuídos fila",
  "words./commands": "comando registo historial enviado fila resposta motor bloquear imobilizar remoto quem",
  "words./schedules": "agendamento agendar automático semanal noite temporizador comandos",
  "words./reports/scheduled": "e-mail semanal diário mensal automático enviar relatório",
  "words./calendars": "calendário horário turnos feriados ical semana",
  "words./connect": "adicionar veículo aparelho dispositivo gps terminal imei instalar registar novo",
  "words./admin": "administração definições configurar gestão utilizadores permissões",
  "words./admin/users":
    "contas pessoas funcionários direitos funções permissões convidar bloquear palavra-passe sessões administradores gestores",
  "words./admin/groups": "frotas departamentos pastas árvore hierarquia",
  "words./admin/links": "permissões direitos acesso atribuir quem vê o quê",
  "words./admin/devices":
    "dispositivos frota tabela lista massa importar exportar csv excel arquivar grupos colunas",
  "words./admin/drivers": "condutor chave cartão ibutton rfid quem conduz",
  "words./admin/maintenance": "serviço óleo inspeção revisão repor quilómetros horas reparação",
  "words./admin/orders": "encomenda transporte entrega",
  "words./admin/attributes": "atributo calculado expressão fórmula sensor",
  "words./admin/commands": "comando guardado modelo",
  "words./admin/notifications": "notificar avisar aviso e-mail sms telegram webhook quem sabe mensagem",
  "words./admin/server":
    "servidor definições administração admin configuração sistema smtp correio email sms telegram notificações mapa ruas satélite moradas sso openid retenção armazenamento quota limites",
  "words./helpdesk":
    "empresas empresa pedidos configurar equipas agentes contactos sla prazos horario categorias prioridades fluxo filiais webhook regras clientes apoio",
  "words./helpdesk/new": "empresa atendimento adicionar criar começar",
  "words./zones/new": "desenhar geocerca cerca área polígono círculo corredor criar",
  "words./account": "definições preferências perfil utilizador opções nome email telefone",
  "words.alarm": "último alerta sos pânico emergência",
  "words.secondWindow": "ecrã monitor segunda abrir",
  "words.help": "ajuda teclas atalhos teclado manual suporte",
  "words.logout": "terminar sessão logout fechar",
  "words.theme": "tema aspeto cores modo noite dia contraste",
  "words.language": "língua idioma tradução textos",
  "words.preferences":
    "definições unidades unidade km milhas nós fuso horário formato coordenadas colunas atalhos",
  "words.password": "definições palavra-passe senha segurança mudar",
  "words.codes": "definições segurança dois fatores 2fa totp autenticador",
  "words.sessions": "definições aparelhos navegadores entradas onde",
  "words.tokens": "definições api acesso programa integração",
  "words.shares": "definições ligações convidados partilha",
  "words.live.vehicle": "vídeo câmara câmaras ver imagem dashcam",
  "words.history.vehicle":
    "viagens viagem paragens estacionamento percurso rota trajeto relatório relatórios exportar excel csv gpx kml distância quilómetros velocidade dia ontem passado gravações",
  "words.events.vehicle": "alarmes alertas avisos notificações registo incidentes",
  "words.commands.vehicle": "motor parar imobilizar bloquear desbloquear reiniciar enviar sms saída",
  "words.settings.vehicle": "editar mudar nome número modelo apagar remover atributos grupo",
  "words.follow": "seguir centrar mapa localizar",
  "words.share": "ligação convidado público enviar localização",
} as const;
