from motorpool.storage.helpdesk import companies

BELOW_COMPANIES = """
    select c.table_name from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'company_id' and not exists (
        select from pg_constraint k
        where k.conrelid = c.table_name::regclass and k.confrelid = 'companies'::regclass
            and k.confdeltype = 'c'
    )
"""
"""Tables of what belongs to companies, but those whose rows go with the company's by themselves."""


async def test_a_company_takes_with_it_the_rows_of_every_table_that_names_it(database):
    company_id = await database.fetch_value("insert into companies (name) values ('x') returning id")
    executed = []

    class Recorded:
        async def fetch_value(self, sql, *args):
            return await database.fetch_value(sql, *args)

        async def execute(self, sql, *args):
            executed.append(sql)
            return await database.execute(sql, *args)

    await companies.delete_with_everything(Recorded(), company_id)
    for row in await database.fetch(BELOW_COMPANIES):
        assert f"delete from {row[0]} where company_id = $1" in executed
    assert await database.fetch_value("select count(*) from companies") == 0
