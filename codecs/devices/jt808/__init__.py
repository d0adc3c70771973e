"""JT/T 808: the protocol of Chinese commercial vehicles, versions 2011, 2013 and 2019."""
