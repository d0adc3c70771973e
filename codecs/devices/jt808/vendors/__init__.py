"""What small makers send beside JT/T 808 (docs/protocols/jt808-vendors.md)."""
