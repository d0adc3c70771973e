"""WebSockets: live updates to those who may see them."""
