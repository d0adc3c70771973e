"""What the supervisor of several servers of a machine and these servers have to do with each other."""
