import { admin as portugal } from "../pt/admin";
import type { TextsLike } from "../translate";

export const admin: TextsLike<typeof portugal> = {
  ...portugal,
  "admin.mayNot": "Você não pode ver esta seção da administração.",
  "admin.users": "Usuários",
  "admin.usersText": "Quem pode entrar, o que cada um pode fazer e onde tem sessões abertas.",
  "admin.groups": "Grupos",
  "admin.groupsText": "Veículos em árvore, para atribuí-los em conjunto.",
  "admin.links": "Associações",
  "admin.linksText": "O que tem cada usuário, grupo ou veículo, diretamente ou por um grupo.",
  "admin.settings": "Configurações",
  "admin.settingsText":
    "E-mail, mapas, logins, por quanto tempo tudo fica e quanto os usuários podem armazenar.",
  "admin.helpdeskText":
    "Empresas cujas pessoas respondem aos chamados: equipes, prioridades, fluxo e regras.",
  "admin.devices": "Veículos",
  "admin.devicesText": "Todos os veículos em uma tabela: alterar vários, arquivos, grupos, arquivados.",
  "admin.drivers": "Motoristas",
  "admin.driversText": "Quem dirige: nomes, chaves e cartões, e quem dirige o quê agora.",
  "admin.maintenance": "Manutenção",
  "admin.maintenanceText": "O que vence por distância, horas ou data, e o que foi feito.",
  "admin.orders": "Ordens",
  "admin.ordersText": "O que é levado de onde para onde.",
  "admin.attributes": "Atributos calculados",
  "admin.attributesText": "Valores que as expressões dão de cada posição.",
  "admin.commands": "Comandos salvos",
  "admin.commandsText": "Comandos enviados com um toque, por agendamentos e notificações.",
  "admin.group.people": "Pessoas",
  "admin.group.vehicles": "Veículos",
  "admin.group.automation": "Automação",
  "admin.group.server": "Servidor",
  "admin.notificationsText":
    "Quais eventos chegam a quem e por qual meio: esta página, e-mail, mensagem de texto. Com um teste sobre os eventos de ontem.",
  "admin.statisticsText": "Requisições, usuários e veículos ativos e mensagens de cada dia.",
  "admin.actorsText":
    "As partes em execução do servidor em árvore: o que espera, o que foi reiniciado. Para investigar falhas.",
  "admin.statusText":
    "Se o servidor funciona: disco, memória, banco de dados, servidores do cluster. Reinício.",
  "admin.storageText": "O que ocupa espaço, o que cresce e por quanto tempo é mantido.",
  "admin.backup": "Backup e chaves",
  "admin.backupText": "Obter tudo em um só arquivo, e trocar a chave que assina os acessos.",
  "admin.announcementText": "O que todos veem em suas páginas, e mensagens para muitos.",
};
