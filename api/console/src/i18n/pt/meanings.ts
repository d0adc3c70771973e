import type { meanings as english } from "../en/meanings";
import type { TextsLike } from "../translate";

export const meanings = {
  "meaning.map.tiles":
    "Ruas: `openfreemap`, `none` ou o endereço de um estilo MapLibre, de mosaicos de imagens ou de mosaicos vetoriais com `{z}`, `{x}` e `{y}`. Os navegadores contactam o respetivo servidor.",
  "meaning.map.tiles_dark": "O endereço no tema escuro. Não definido: o de `tiles`.",
  "meaning.map.attribution":
    "Quem o mapa indica como fonte de `tiles` ou `file`, além do que o próprio estilo diz.",
  "meaning.map.file":
    "Ficheiro PMTiles na pasta de dados, como `map/region.pmtiles`, em vez de `openfreemap`.",
  "meaning.map.layers":
    "Outras camadas a escolher no mapa, cada uma com nome, endereço e fonte: `Satellite https://tiles.example.org/{z}/{x}/{y}.jpg © Somebody`.",
  "meaning.map.hosts":
    "Outros servidores a que um estilo se refere: `https://fonts.example.org`, `https://*.tiles.example.org`.",
  "meaning.map.share_tiles":
    "Se os convidados de links de partilha também veem camadas de outros servidores. Não definido: exceto se `tiles` for `openfreemap`.",
  "meaning.mail.host": "Endereço do servidor de correio. Com `address`, permite enviar e-mails.",
  "meaning.mail.port": "Porta do servidor de correio. 0: 465 com `tls`, 587 com `starttls`, 25 com `none`.",
  "meaning.mail.security":
    "Como se protege a ligação. Os certificados são verificados, também com `SSL_CERT_FILE`.",
  "meaning.mail.username": "Nome com que o servidor inicia sessão. Não definido: sem início de sessão.",
  "meaning.mail.password": "A palavra-passe correspondente.",
  "meaning.mail.address": "Remetente dos e-mails: `fleet@example.org`.",
  "meaning.mail.name": "Nome mostrado junto ao endereço do remetente.",
  "meaning.mail.seconds": "Tempo máximo para entregar um e-mail ao servidor.",
  "meaning.sms.url":
    "Endereço do pedido. Se estiver definido, são enviados SMS. Pode conter `{phone}`, `{message}` e `{id}`.",
  "meaning.sms.method": "Método do pedido.",
  "meaning.sms.headers": "Outras linhas de cabeçalho: `X-Api-Key: 123`.",
  "meaning.sms.authorization": "Valor do cabeçalho `Authorization`.",
  "meaning.sms.template":
    "Corpo do pedido, exceto com `GET`: JSON ou um formulário como `to={phone}&text={message}`.",
  "meaning.sms.seconds": "O serviço de SMS responde dentro deste tempo.",
  "meaning.sms.per_user":
    "SMS que um utilizador pode enviar numa hora como comandos, testes e anúncios. Os administradores podem enviar anúncios a qualquer número de utilizadores.",
  "meaning.sms.per_hour": "SMS desse tipo que todos os utilizadores juntos podem enviar numa hora.",
  "meaning.telegram.token": "Token do bot que envia notificações. Não definido: nenhuma é enviada.",
  "meaning.telegram.url": "A API de bots, que pode ser um servidor próprio.",
  "meaning.pushover.token": "Token da aplicação que envia notificações. Não definido: nenhuma é enviada.",
  "meaning.pushover.url": "A API do Pushover.",
  "meaning.ntfy.url": "O servidor, que pode ser um próprio.",
  "meaning.ntfy.token":
    "Token de acesso da conta que envia notificações. Não definido e sem `username` nem `anonymous`: nenhuma é enviada.",
  "meaning.ntfy.username": "Nome da conta, em vez de um token.",
  "meaning.ntfy.password": "A palavra-passe correspondente.",
  "meaning.ntfy.anonymous":
    "Se as notificações são publicadas sem conta, quando o servidor o permite a todos.",
  "meaning.geocoder.type": "Tipo do geocodificador. Se estiver definido, são procuradas moradas.",
  "meaning.geocoder.url": "Endereço de um geocodificador próprio. Não definido: o público desse tipo.",
  "meaning.geocoder.key": "A chave recebida do geocodificador.",
  "meaning.geocoder.language": "Língua das moradas: `de`. Não definido: a que o geocodificador escolher.",
  "meaning.geocoder.format":
    "Forma de uma morada: `%h` número da porta, `%r` rua, `%t` localidade, `%u` bairro, `%d` distrito, `%s` estado ou região, `%c` país, `%p` código postal, `%f` como o geocodificador a escreve.",
  "meaning.geocoder.cache_size": "Moradas que são memorizadas.",
  "meaning.geocoder.per_second":
    "Máximo de pedidos por segundo, como exige o Nominatim público. 0: sem limite.",
  "meaning.geocoder.seconds": "Uma morada é encontrada dentro deste tempo, incluindo a espera na fila.",
  "meaning.geocoder.on_request": "Se os relatórios procuram as moradas que faltam às posições.",
  "meaning.geocoder.request_seconds":
    "Tempo máximo que um relatório espera por moradas; as que não foram encontradas ficam de fora.",
  "meaning.geocoder.positions": "Se cada posição guardada recebe uma morada, pouco depois de ser guardada.",
  "meaning.geocoder.reuse_metres":
    "Uma posição a esta distância ou menos da última do veículo com morada recebe a mesma morada.",
  "meaning.openid.issuer":
    "O endereço do fornecedor (issuer). O resto é lido do documento de descoberta do fornecedor.",
  "meaning.openid.client_id": "O ID pelo qual o fornecedor conhece este servidor.",
  "meaning.openid.client_secret": "O segredo correspondente.",
  "meaning.openid.force":
    "Desliga as palavras-passe: todos os utilizadores iniciam sessão através do fornecedor.",
  "meaning.openid.allow_registration":
    "Cria utilizadores desconhecidos no primeiro início de sessão, mesmo que o registo esteja fechado.",
  "meaning.openid.scopes": "Os âmbitos que são pedidos ao fornecedor.",
  "meaning.openid.groups_claim": "O campo (claim) que contém os grupos de um utilizador.",
  "meaning.openid.admin_group": "Quem está neste grupo é administrador.",
  "meaning.openid.allow_group": "Só quem está neste grupo ou em `admin_group` pode entrar.",
  "meaning.openid.require_verified":
    "Recusa quem chega sem `email_verified`; para fornecedores em que qualquer pessoa pode indicar qualquer endereço.",
  "meaning.positions.retention_days":
    "As posições são eliminadas quando passa este tempo desde a receção, exceto a última de cada veículo. 0: nunca. Não definido: 730 numa instalação nova, 0 numa base de dados criada antes de existir esta predefinição.",
  "meaning.events.retention_days":
    "Os eventos são eliminados após este tempo. 0: nunca. Não definido: 730 numa instalação nova, senão 0.",
  "meaning.audit.retention_days":
    "As linhas do registo de auditoria são eliminadas após este tempo. 0: nunca. Não definido: 730 numa instalação nova, senão 0.",
  "meaning.statistics.retention_days":
    "As estatísticas são eliminadas após este tempo. 0: nunca. Não definido: 730 numa instalação nova, senão 0.",
  "meaning.schedules.retention_days":
    "As execuções de comandos agendados são eliminadas após este tempo. 0: nunca.",
  "meaning.files.quota_bytes":
    "Espaço máximo em disco das fotografias e ficheiros de alarmes no total; os mais antigos são eliminados primeiro. 0: sem limite. Não definido: 10737418240 (10 GiB) numa instalação nova, 0 numa base de dados criada antes de existir esta predefinição.",
  "meaning.files.device_quota_bytes":
    "Espaço máximo em disco das fotografias e ficheiros de alarmes de um veículo; os mais antigos são eliminados primeiro. 0: sem limite. Não definido: 1073741824 (1 GiB) numa instalação nova, senão 0.",
  "meaning.files.retention_days":
    "As fotografias e ficheiros de alarmes são eliminados após este tempo. 0: nunca. Não definido: 730 numa instalação nova, senão 0.",
  "meaning.captures.quota_bytes":
    "Espaço máximo em disco de todas as capturas; os ficheiros mais antigos são eliminados primeiro. 0: sem limite. Não definido: 10737418240 (10 GiB) numa instalação nova, senão 0.",
  "meaning.captures.retention_days":
    "Os ficheiros de capturas são eliminados após este tempo. 0: nunca. Não definido: 730 numa instalação nova, senão 0.",
  "meaning.quotas.user_records":
    "Zonas que um utilizador pode criar, e outros tantos condutores, encomendas, manutenções, calendários, comandos guardados e grupos. Aos administradores aplica-se o limite de todos.",
  "meaning.quotas.user_bytes":
    "Tamanho dos atributos, áreas e textos de calendários das zonas que um utilizador cria, e outro tanto de cada um dos outros tipos de `user_records` e `user_tasks`, e dos aparelhos.",
  "meaning.quotas.user_geofence_points": "Pontos de todas as zonas que um utilizador cria.",
  "meaning.quotas.user_tasks":
    "Notificações que um utilizador pode criar, e outros tantos comandos agendados e relatórios agendados.",
  "meaning.quotas.user_calendar_cost":
    "Custo de todos os calendários que um utilizador cria; os turnos de uma semana custam algumas centenas de passos.",
  "meaning.quotas.user_notified":
    "Destinatários das notificações que um utilizador cria: cada evento é verificado para cada um deles.",
  "meaning.quotas.user_ticket_rules": "Regras de pedidos de todas as empresas que um utilizador cria.",
  "meaning.quotas.user_kept_bytes":
    "Tamanho das capturas e ficheiros que um utilizador conserva sem que a idade ou a quota os eliminem. Aos administradores aplica-se o limite de todos.",
  "meaning.quotas.server_kept_bytes": "Tamanho das capturas e ficheiros que todos os utilizadores conservam.",
  "meaning.quotas.server_records":
    "Zonas de todos os utilizadores, e outros tantos registos de cada um dos outros tipos de `user_records`.",
  "meaning.quotas.server_bytes": "Tamanho de cada tipo de `user_bytes` de todos os utilizadores.",
  "meaning.quotas.server_geofence_points": "Pontos das zonas de todos os utilizadores.",
  "meaning.quotas.server_tasks":
    "Notificações de todos os utilizadores, e outros tantos comandos agendados e relatórios agendados.",
  "meaning.quotas.server_calendar_cost": "Custo dos calendários de todos os utilizadores.",
  "meaning.quotas.server_notified": "Destinatários das notificações de todos os utilizadores.",
  "meaning.quotas.server_ticket_rules": "Regras de pedidos de todas as empresas.",
  "meaning.quotas.device_geofences":
    "Zonas associadas a um veículo, diretamente ou pelos seus grupos: uma posição pode gerar um evento de cada uma.",
  "meaning.quotas.device_geofence_points":
    "Pontos dessas zonas: uma posição pode ter de ser comparada com cada lado entre dois deles.",
  "meaning.quotas.device_computed_attributes":
    "Atributos calculados associados a um veículo, diretamente ou pelos seus grupos.",
  "meaning.quotas.device_expression_characters": "Caracteres das expressões desses atributos calculados.",
  "meaning.quotas.device_maintenances":
    "Manutenções associadas a um veículo, diretamente ou pelos seus grupos.",
  "meaning.quotas.device_notifications":
    "Notificações associadas a um veículo, diretamente ou pelos seus grupos.",
  "meaning.quotas.device_scheduled_steps":
    "Passos dos comandos agendados associados a um veículo, diretamente ou pelos seus grupos.",
  "meaning.quotas.device_linked_devices": "Aparelhos que viajam com um veículo.",
  "meaning.quotas.sensor_limits":
    "Sensores com limites nos atributos de um veículo, de um grupo ou do servidor: uma posição é comparada com os do seu veículo, os dos grupos deste e os do servidor.",
  "unit.messages": "SMS",
  "unit.places": "locais",
  "unit.days": "dias",
  "unit.bytes": "bytes",
  "unit.points": "pontos",
  "unit.steps": "passos",
  "unit.links": "destinatários",
  "unit.rules": "regras",
  "unit.characters": "caracteres",
  "unit.sensors": "sensores",
} satisfies TextsLike<typeof english>;
