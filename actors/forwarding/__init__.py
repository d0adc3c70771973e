"""Forwarding: stored positions and events, sent to an HTTP URL or an MQTT topic of the operator."""
