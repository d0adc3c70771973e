"""Extensions of JT/T 808 by small makers (docs/protocols/jt808-vendors.md)."""
