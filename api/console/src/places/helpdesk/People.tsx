import { useState } from "preact/hooks";
import { post, put, remove } from "../../api/call";
import type { CompanyUser, Team, User } from "../../api/types";
import { compareNames, t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Check, Field } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Picker } from "../../parts/Picker";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { EditButtons } from "../../records/EditButtons";
import { RecordDialog } from "../../records/RecordDialog";
import { deleteRecord } from "../../records/records";
import { drop, read, useLoaded } from "../../state/responseCache";
import { may, session } from "../../state/session";
import type { SectionProps } from "./CompanyPlace";
import { roleOf, useRecords, useUsers } from "./records";

/** Who is linked to a company, and its teams. */
export function People({ company, mayEdit }: SectionProps) {
  const members = useUsers(company.id);
  const teams = useRecords<Team>("/teams", company.id);
  const sorted = [...(teams.value ?? [])].sort(
    (one, other) => Number(one.disabled) - Number(other.disabled) || compareNames(one.name, other.name),
  );
  const people = members.value ?? [];
  const reload = () => {
    drop("/companies/roles");
    members.reload();
  };
  return (
    <>
      <section class="card" aria-labelledby="helpdesk-people">
        <h2 id="helpdesk-people">{t("helpdesk.people")}</h2>
        <p class="card-text">{t("helpdesk.peopleText")}</p>
        {members.problem !== null && <Problem problem={members.problem} onRetry={members.reload} />}
        {!members.value && members.problem === null && <Skeleton label={t("common.loading")} lines={3} />}
        <ul class="record-rows">
          {people.map((member) => (
            <Person
              key={member.id}
              member={member}
              companyId={company.id}
              teams={sorted}
              mayEdit={mayEdit}
              isLastManager={isLastManager(member, people)}
              onChanged={reload}
            />
          ))}
        </ul>
        {mayEdit && members.value && <AddPerson companyId={company.id} members={people} onChanged={reload} />}
      </section>
      <Teams
        companyId={company.id}
        teams={teams.value && sorted}
        people={people}
        mayEdit={mayEdit}
        onChanged={() => {
          teams.reload();
          reload();
        }}
      />
    </>
  );
}

/** Whether nobody would be left who manages the company. */
export function isLastManager(member: CompanyUser, all: readonly CompanyUser[]): boolean {
  const leads = ({ manager, disabled }: CompanyUser) => manager && !disabled;
  return leads(member) && all.filter(leads).length === 1;
}

function nameOf({ name, email }: { name: string | null; email: string }): string {
  return name || email;
}

interface PersonProps {
  member: CompanyUser;
  companyId: number;
  teams: readonly Team[];
  mayEdit: boolean;
  isLastManager: boolean;
  onChanged: () => void;
}

function Person({ member, companyId, teams, mayEdit, isLastManager, onChanged }: PersonProps) {
  const name = nameOf(member);
  const inTeams = teams.filter(({ id }) => member.teamIds.includes(id)).map((team) => team.name);
  const link = { userId: member.id, companyId };
  const end = async () => {
    try {
      await remove("/permissions", link);
      onChanged();
      toast(t("helpdesk.personRemoved", { name }), "good", {
        label: t("common.undo"),
        run: () => void restore(),
      });
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  };
  // With the link the memberships end as well.
  const restore = async () => {
    try {
      await post("/permissions", link);
      for (const team of member.teamIds) await put(`/teams/${team}/members/${member.id}`, {});
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    onChanged();
  };
  return (
    <li>
      <div>
        <strong>{member.id === session.value?.id ? t("helpdesk.you", { name }) : name}</strong>
        {name !== member.email && <small>{member.email}</small>}
        <p>
          {t(`helpdesk.role.${roleOf(member)}`)}
          {inTeams.length > 0 && ` · ${inTeams.join(", ")}`}
          {member.disabled && ` · ${t("helpdesk.cannotLogIn")}`}
        </p>
        {isLastManager && mayEdit && <small>{t("helpdesk.lastManager")}</small>}
      </div>
      {mayEdit && (
        <button
          type="button"
          class="icon-button"
          disabled={isLastManager}
          aria-label={t("record.remove", { name })}
          title={t(isLastManager ? "helpdesk.lastManager" : "helpdesk.removeFromCompany")}
          onClick={() => void end()}
        >
          <Icon name="close" size={16} />
        </button>
      )}
    </li>
  );
}

interface AddPersonProps {
  companyId: number;
  members: readonly CompanyUser[];
  onChanged: () => void;
}

function AddPerson({ companyId, members, onChanged }: AddPersonProps) {
  const users = useLoaded("users", () =>
    may("manageUsers") ? read<User[]>("/users", { excludeAttributes: true }) : Promise.resolve([]),
  );
  const known = new Set(members.map(({ id }) => id));
  const choices = (users.value ?? []).filter(({ id, temporary }) => !known.has(id) && !temporary);
  const add = async (user: User) => {
    const link = { userId: user.id, companyId };
    try {
      await post("/permissions", link);
      onChanged();
      toast(t("helpdesk.personAdded", { name: nameOf(user) }), "good", {
        label: t("common.undo"),
        run: () => void remove("/permissions", link).then(onChanged),
      });
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  };
  if (!may("manageUsers")) return <p class="field-hint">{t("helpdesk.onlyManagersOfUsers")}</p>;
  return (
    <Picker
      label={t("helpdesk.addPerson")}
      items={choices.map((user) => ({ id: user.id, name: nameOf(user), note: user.email }))}
      value={null}
      placeholder={t("helpdesk.findPerson")}
      onChange={(id) => {
        const user = choices.find((each) => each.id === id);
        if (user) void add(user);
      }}
    />
  );
}

interface TeamsProps {
  companyId: number;
  teams: readonly Team[] | undefined;
  people: readonly CompanyUser[];
  mayEdit: boolean;
  onChanged: () => void;
}

function Teams({ companyId, teams, people, mayEdit, onChanged }: TeamsProps) {
  const [edited, setEdited] = useState<Team | "new" | null>(null);
  const [deleting, setDeleting] = useState<Team | null>(null);
  const blank: Team = { id: 0, companyId, name: "", uniqueId: null, disabled: false, attributes: {} };
  const add = mayEdit && (
    <button type="button" onClick={() => setEdited("new")}>
      <Icon name="plus" size={16} />
      {t("helpdesk.newTeam")}
    </button>
  );
  return (
    <section class="card" aria-labelledby="helpdesk-teams">
      <header class="page-head">
        <h2 id="helpdesk-teams">{t("helpdesk.teams")}</h2>
        {(teams?.length ?? 0) > 0 && add}
      </header>
      {teams?.length === 0 && (
        <Empty title={t("helpdesk.noTeams")} text={t("helpdesk.noTeamsText")}>
          {add}
        </Empty>
      )}
      <ul class="record-rows">
        {(teams ?? []).map((team) => (
          <TeamRow
            key={team.id}
            team={team}
            people={people}
            mayEdit={mayEdit}
            onEdit={() => setEdited(team)}
            onDelete={() => setDeleting(team)}
            onChanged={onChanged}
          />
        ))}
      </ul>
      {edited && (
        <RecordDialog
          title={edited === "new" ? t("helpdesk.newTeam") : edited.name}
          path="/teams"
          stored={edited === "new" ? null : edited}
          blank={blank}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            onChanged();
          }}
        >
          {({ value, set, errorOf, disabled }) => (
            <>
              <Field
                label={t("record.name")}
                value={value.name}
                maxLength={128}
                autofocus
                disabled={disabled}
                error={errorOf("name")}
                onInput={(event) => set({ name: event.currentTarget.value })}
              />
              {edited !== "new" && (
                <Check
                  label={t("record.archivedLabel")}
                  hint={t("helpdesk.archivedTeam")}
                  checked={value.disabled}
                  disabled={disabled}
                  onChange={(isArchived) => set({ disabled: isArchived })}
                />
              )}
            </>
          )}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: deleting.name })}
          text={t("helpdesk.deleteTeamText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord("/teams", deleting.id);
            onChanged();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </section>
  );
}

interface TeamRowProps {
  team: Team;
  people: readonly CompanyUser[];
  mayEdit: boolean;
  onEdit: () => void;
  onDelete: () => void;
  onChanged: () => void;
}

function TeamRow({ team, people, mayEdit, onEdit, onDelete, onChanged }: TeamRowProps) {
  const members = people.filter(({ teamIds }) => teamIds.includes(team.id));
  const others = people.filter(({ teamIds }) => !teamIds.includes(team.id));
  const change = async (person: CompanyUser, isMember: boolean) => {
    const path = `/teams/${team.id}/members/${person.id}`;
    try {
      await (isMember ? put(path, {}) : remove(path));
      onChanged();
      const said = t(isMember ? "helpdesk.memberAdded" : "helpdesk.memberRemoved", {
        name: nameOf(person),
        team: team.name,
      });
      toast(said, "good", { label: t("common.undo"), run: () => void change(person, !isMember) });
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  };
  return (
    <li>
      <div class="helpdesk-team">
        <strong>{team.name}</strong>
        {team.disabled && <small>{t("record.archived")}</small>}
        {members.length === 0 && <small>{t("helpdesk.noMembers")}</small>}
        <ul class="helpdesk-people">
          {members.map((person) => (
            <li key={person.id} class="badge">
              {nameOf(person)}
              {mayEdit && (
                <button
                  type="button"
                  class="icon-button small"
                  aria-label={t("helpdesk.removeMember", { name: nameOf(person), team: team.name })}
                  onClick={() => void change(person, false)}
                >
                  <Icon name="close" size={14} />
                </button>
              )}
            </li>
          ))}
        </ul>
        {mayEdit && others.length > 0 && (
          <Picker
            label={t("helpdesk.addMember", { team: team.name })}
            items={others.map((person) => ({ id: person.id, name: nameOf(person), note: person.email }))}
            value={null}
            placeholder={t("helpdesk.findPerson")}
            onChange={(id) => {
              const person = others.find((each) => each.id === id);
              if (person) void change(person, true);
            }}
          />
        )}
      </div>
      {mayEdit && (
        <div class="button-row">
          <EditButtons name={team.name} onEdit={onEdit} onDelete={onDelete} />
        </div>
      )}
    </li>
  );
}
