import { meanings as portugal } from "../pt/meanings";
import type { TextsLike } from "../translate";

export const meanings: TextsLike<typeof portugal> = {
  ...portugal,
  "meaning.map.tiles":
    "Ruas: `openfreemap`, `none` ou o endereço de um estilo MapLibre, de tiles de imagem ou de tiles vetoriais com `{z}`, `{x}` e `{y}`. Os navegadores consultam o servidor deles.",
  "meaning.map.file":
    "Arquivo PMTiles na pasta de dados, como `map/region.pmtiles`, em vez de `openfreemap`.",
  "meaning.map.share_tiles":
    "Se os convidados de links compartilhados também veem camadas de outros servidores. Não definido: exceto se `tiles` for `openfreemap`.",
  "meaning.mail.host": "Endereço do servidor de e-mail. Com `address`, permite enviar e-mails.",
  "meaning.mail.port": "Porta do servidor de e-mail. 0: 465 com `tls`, 587 com `starttls`, 25 com `none`.",
  "meaning.mail.security":
    "Como a conexão é protegida. Os certificados são verificados, também com `SSL_CERT_FILE`.",
  "meaning.mail.username": "Usuário com que o servidor faz login. Não definido: sem login.",
  "meaning.mail.password": "A senha correspondente.",
  "meaning.sms.url":
    "Endereço da requisição. Se estiver definido, são enviados SMS. Pode conter `{phone}`, `{message}` e `{id}`.",
  "meaning.sms.method": "Método da requisição.",
  "meaning.sms.template":
    "Corpo da requisição, exceto com `GET`: JSON ou um formulário como `to={phone}&text={message}`.",
  "meaning.sms.per_user":
    "SMS que um usuário pode enviar em uma hora como comandos, testes e anúncios. Os administradores podem enviar anúncios a qualquer número de usuários.",
  "meaning.sms.per_hour": "SMS desse tipo que todos os usuários juntos podem enviar em uma hora.",
  "meaning.pushover.token": "Token do aplicativo que envia notificações. Não definido: nenhuma é enviada.",
  "meaning.ntfy.password": "A senha correspondente.",
  "meaning.geocoder.type": "Tipo do geocodificador. Se estiver definido, os endereços são buscados.",
  "meaning.geocoder.language": "Idioma dos endereços: `de`. Não definido: o que o geocodificador escolher.",
  "meaning.geocoder.format":
    "Formato de um endereço: `%h` número, `%r` rua, `%t` cidade, `%u` bairro, `%d` distrito, `%s` estado, `%c` país, `%p` CEP, `%f` como o geocodificador o escreve.",
  "meaning.geocoder.cache_size": "Endereços que são memorizados.",
  "meaning.geocoder.per_second":
    "Máximo de consultas por segundo, como exige o Nominatim público. 0: sem limite.",
  "meaning.geocoder.seconds": "Um endereço é encontrado dentro deste tempo, incluindo a espera na fila.",
  "meaning.geocoder.on_request": "Se os relatórios buscam os endereços que faltam às posições.",
  "meaning.geocoder.request_seconds":
    "Tempo máximo que um relatório espera por endereços; os que não foram encontrados ficam de fora.",
  "meaning.geocoder.positions": "Se cada posição salva recebe um endereço, pouco depois de ser salva.",
  "meaning.geocoder.reuse_metres":
    "Uma posição a esta distância ou menos da última do veículo com endereço recebe o mesmo endereço.",
  "meaning.openid.issuer":
    "O endereço do provedor (issuer). O resto é lido do documento de descoberta do provedor.",
  "meaning.openid.client_id": "O ID pelo qual o provedor conhece este servidor.",
  "meaning.openid.force": "Desativa as senhas: todos os usuários fazem login pelo provedor.",
  "meaning.openid.allow_registration":
    "Cria usuários desconhecidos no primeiro login, mesmo que o cadastro esteja fechado.",
  "meaning.openid.scopes": "Os escopos que são solicitados ao provedor.",
  "meaning.openid.groups_claim": "O campo (claim) que contém os grupos de um usuário.",
  "meaning.openid.require_verified":
    "Recusa quem chega sem `email_verified`; para provedores em que qualquer pessoa pode informar qualquer endereço.",
  "meaning.positions.retention_days":
    "As posições são excluídas quando passa este tempo desde o recebimento, exceto a última de cada veículo. 0: nunca. Não definido: 730 em uma instalação nova, 0 em um banco de dados criado antes de existir este padrão.",
  "meaning.events.retention_days":
    "Os eventos são excluídos após este tempo. 0: nunca. Não definido: 730 em uma instalação nova, senão 0.",
  "meaning.audit.retention_days":
    "As linhas do registro de auditoria são excluídas após este tempo. 0: nunca. Não definido: 730 em uma instalação nova, senão 0.",
  "meaning.statistics.retention_days":
    "As estatísticas são excluídas após este tempo. 0: nunca. Não definido: 730 em uma instalação nova, senão 0.",
  "meaning.schedules.retention_days":
    "As execuções de comandos agendados são excluídas após este tempo. 0: nunca.",
  "meaning.files.quota_bytes":
    "Espaço máximo em disco das fotos e arquivos de alarmes no total; os mais antigos são excluídos primeiro. 0: sem limite. Não definido: 10737418240 (10 GiB) em uma instalação nova, 0 em um banco de dados criado antes de existir este padrão.",
  "meaning.files.device_quota_bytes":
    "Espaço máximo em disco das fotos e arquivos de alarmes de um veículo; os mais antigos são excluídos primeiro. 0: sem limite. Não definido: 1073741824 (1 GiB) em uma instalação nova, senão 0.",
  "meaning.files.retention_days":
    "As fotos e arquivos de alarmes são excluídos após este tempo. 0: nunca. Não definido: 730 em uma instalação nova, senão 0.",
  "meaning.captures.quota_bytes":
    "Espaço máximo em disco de todas as capturas; os arquivos mais antigos são excluídos primeiro. 0: sem limite. Não definido: 10737418240 (10 GiB) em uma instalação nova, senão 0.",
  "meaning.captures.retention_days":
    "Os arquivos de capturas são excluídos após este tempo. 0: nunca. Não definido: 730 em uma instalação nova, senão 0.",
  "meaning.quotas.user_records":
    "Zonas que um usuário pode criar, e outros tantos motoristas, ordens, manutenções, calendários, comandos salvos e grupos. Para os administradores vale o limite de todos.",
  "meaning.quotas.user_bytes":
    "Tamanho dos atributos, áreas e textos de calendários das zonas que um usuário cria, e outro tanto de cada um dos outros tipos de `user_records` e `user_tasks`, e dos dispositivos.",
  "meaning.quotas.user_geofence_points": "Pontos de todas as zonas que um usuário cria.",
  "meaning.quotas.user_tasks":
    "Notificações que um usuário pode criar, e outros tantos comandos agendados e relatórios agendados.",
  "meaning.quotas.user_calendar_cost":
    "Custo de todos os calendários que um usuário cria; os turnos de uma semana custam algumas centenas de passos.",
  "meaning.quotas.user_notified":
    "Destinatários das notificações que um usuário cria: cada evento é verificado para cada um deles.",
  "meaning.quotas.user_ticket_rules": "Regras de chamados de todas as empresas que um usuário cria.",
  "meaning.quotas.user_kept_bytes":
    "Tamanho das capturas e arquivos que um usuário mantém sem que a idade ou a cota os excluam. Para os administradores vale o limite de todos.",
  "meaning.quotas.server_kept_bytes": "Tamanho das capturas e arquivos que todos os usuários mantêm.",
  "meaning.quotas.server_records":
    "Zonas de todos os usuários, e outros tantos registros de cada um dos outros tipos de `user_records`.",
  "meaning.quotas.server_bytes": "Tamanho de cada tipo de `user_bytes` de todos os usuários.",
  "meaning.quotas.server_geofence_points": "Pontos das zonas de todos os usuários.",
  "meaning.quotas.server_tasks":
    "Notificações de todos os usuários, e outros tantos comandos agendados e relatórios agendados.",
  "meaning.quotas.server_calendar_cost": "Custo dos calendários de todos os usuários.",
  "meaning.quotas.server_notified": "Destinatários das notificações de todos os usuários.",
  "meaning.quotas.server_ticket_rules": "Regras de chamados de todas as empresas.",
  "meaning.quotas.device_geofences":
    "Zonas vinculadas a um veículo, diretamente ou por seus grupos: uma posição pode gerar um evento de cada uma.",
  "meaning.quotas.device_computed_attributes":
    "Atributos calculados vinculados a um veículo, diretamente ou por seus grupos.",
  "meaning.quotas.device_maintenances":
    "Manutenções vinculadas a um veículo, diretamente ou por seus grupos.",
  "meaning.quotas.device_notifications":
    "Notificações vinculadas a um veículo, diretamente ou por seus grupos.",
  "meaning.quotas.device_scheduled_steps":
    "Etapas dos comandos agendados vinculados a um veículo, diretamente ou por seus grupos.",
  "meaning.quotas.device_linked_devices": "Dispositivos que viajam com um veículo.",
};
