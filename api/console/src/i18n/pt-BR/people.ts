import { people as portugal } from "../pt/people";
import type { TextsLike } from "../translate";

export const people: TextsLike<typeof portugal> = {
  ...portugal,
  "people.users": "Usuários",
  "people.newUser": "Novo usuário",
  "people.searchUsers": "Buscar nome ou e-mail",
  "people.count": { one: "{count} usuário", other: "{count} usuários" },
  "people.alone": "Ainda ninguém mais",
  "people.aloneText":
    "Quem trabalha com a frota tem seu próprio usuário: dele depende o que vê e pode fazer. Convide o primeiro por e-mail.",
  "people.you": "{name} (você)",
  "people.role.user": "Usuário",
  "people.role.manager.text": "Cria usuários e cuida deles; vê o que está associado à sua conta",
  "people.role.user.text": "Vê o que está associado à sua conta",
  "people.deviceReadonlyText": "Os veículos, seus hodômetros e imagens ficam como estão",
  "people.limitCommands": "Só comandos salvos",
  "people.limitCommandsText": "Só envia comandos salvos para ele, e não os altera",
  "people.mayNot": "Você não pode criar usuários.",
  "people.yourself": "Este é você. A senha, o idioma e as notificações estão na sua conta.",
  "people.firstPassword": "Senha",
  "people.password": "Senha",
  "people.passwordHint": "Informe a pessoa; ela pode alterá-la na conta.",
  "people.newPassword": "Nova senha",
  "people.newPasswordHint": "Vazio: continua a mesma. Uma nova encerra todas as sessões e tokens.",
  "people.userLimit": "Usuários que pode criar",
  "people.make": "Criar usuário",
  "people.conflict":
    "Enquanto isso outra pessoa alterou: {fields}. Suas alterações ficam por cima; salve de novo.",
  "people.actAsText":
    "O que você fizer será em nome dessa pessoa, e o registro de auditoria dirá que foi você. Uma barra permite voltar.",
  "people.invited": "O convite está a caminho de {email}",
  "people.notInvited": "O usuário foi criado, mas não convidado: {reason}",
  "people.wasDisabled": "{name} não pode mais entrar",
  "people.deleteTitle": "Excluir {name}?",
  "people.deleteText":
    "As sessões, os tokens e as associações deste usuário terminam. Os veículos e todo o resto ficam.",
  "people.deleted": "{name} foi excluído",
  "people.byAnother": "iniciada por alguém que age como este usuário",
  "people.signOut": "Encerrar todas as sessões",
  "people.signOutTitle": "Encerrar todas as sessões de {name}?",
  "people.signOutText":
    "Todas as sessões e tokens terminam na hora. Quem souber a senha pode entrar de novo.",
  "people.noGroupsText":
    "Um grupo reúne veículos que ficam juntos, como os de uma filial. Quem está associado a ele vê todos, também os que vierem depois.",
  "people.searchGroups": "Buscar grupos",
  "people.treeHint": "Arraste um grupo sobre outro, ou mova-o pelo menu ou com Alt e as setas.",
  "people.deleteGroupText":
    "Seus veículos e os grupos nele ficam, sem este grupo. Quem os via por ele deixa de vê-los.",
  "people.linksText": "Escolha quem ou o quê e marque o que deve ter. As alterações são salvas juntas.",
  "people.owner.user": "Usuários",
  "people.searchIn": "Buscar em {list}",
  "people.chooseOwnerText": "Escolha um usuário, um grupo ou um veículo para ver o que está associado a ele.",
  "people.nothingToLink": "Ainda não há nada disso.",
  "people.aGroup": "que você não vê",
  "people.kind.managedUserId": "Usuários sob sua gestão",
  "people.kind.driverId": "Motoristas",
  "people.kind.commandId": "Comandos salvos",
};
