"""The errors that a user of the library may meet; each message says what to do."""


class ConfigurationError(ValueError):
    """A value that the caller gave is outside what is allowed."""


class OutputError(ConfigurationError):
    """A dataset directory can't be used: unwritable, not ours, unreadable, or of another dataset."""


class CapacityError(ConfigurationError):
    """The request is well defined, but beyond a documented bound on memory or work."""


class BoardError(ConfigurationError):
    """This installation doesn't give the instances of a frozen board."""


class SubmissionError(ConfigurationError):
    """A submission is refused: the message names the file, what is wrong, and what is allowed."""


class ChangeError(ConfigurationError):
    """A change of the leaderboard is refused, or can't be checked: the message says what is allowed."""


class BusyError(OSError):
    """The machine is too busy to get something done; it may be tried again, and nothing is wrong with it."""


class HubError(OSError):
    """The Hub or the line to it failed; nothing is half-visible there, and the same may be tried again."""


class CodeCacheWarning(RuntimeWarning):
    """Machine code isn't kept on disk, as others could change it or nothing can be written there."""


class InstallationError(ImportError):
    """A package of this project isn't found, or something else is in its place."""
