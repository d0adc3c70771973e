"""Requests about devices that are connected to another server of the cluster (docs/servers.md#video)."""
