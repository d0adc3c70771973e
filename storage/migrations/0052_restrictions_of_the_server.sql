-- The restrictions of the server are defaults for new users from here on, and act on all users only while it forces its
-- settings. Those that act today become the users' own, so that nobody is freed of them.

update users set
    readonly = users.readonly or server.readonly,
    device_readonly = users.device_readonly or server.device_readonly,
    limit_commands = users.limit_commands or server.limit_commands,
    disable_reports = users.disable_reports or server.disable_reports,
    fixed_email = users.fixed_email or server.fixed_email,
    version = users.version + 1
from server
where not users.administrator and (
    server.readonly and not users.readonly
    or server.device_readonly and not users.device_readonly
    or server.limit_commands and not users.limit_commands
    or server.disable_reports and not users.disable_reports
    or server.fixed_email and not users.fixed_email
);
