"""Who is calling and what they may do: passwords, tokens, sessions, OpenID Connect, rights."""
