"""Jobs that don't depend on each other: in threads or processes of this machine, or on a cluster."""
