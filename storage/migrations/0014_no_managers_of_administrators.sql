-- Administrators have no managers: until now a manager kept access to a user who became administrator.
delete from user_user using users where users.id = user_user.managed_user_id and users.administrator;
