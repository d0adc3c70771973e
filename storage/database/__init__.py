"""The database itself: pool, driver, transactions, migrations, and the mapping of rows to records."""
