"""One module a scenario, named as in the tasks."""
