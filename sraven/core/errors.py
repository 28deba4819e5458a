"""The errors that a user of the library may meet; each message says what to do."""


class ConfigurationError(ValueError):
    """A value that the caller gave is outside what is allowed."""


class OutputError(ConfigurationError):
    """The output directory can't be used: unwritable, not ours, or of another configuration."""


class CapacityError(ConfigurationError):
    """An exact answer would need more memory than the documented bound."""
