"""The two ways the kit gives up; both end with exit code 2 and one line on stderr."""

from failslow.base import printable

EXIT_INTERRUPTED = 130
"""The exit code of a command that a signal ended: no error."""


class CannotDo(Exception):
    """The command cannot be done: wrong input, a broken machine, a test without a result.

    Attributes:
        detail: further lines, such as compiler output, printed below the one-line message.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class BadSubmission(CannotDo):
    """The submission is at fault (missing file, compile error), so its author can mend it.

    An unattended grader reports this error to the student, and all others to the instructor. The
    words may be the student's: names in an archive, lines that the compiler repeats. So control
    characters are replaced, and the message is one line.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(printable.line(message), printable.text(detail))


class CouldNotGrade(CannotDo):
    """A test ended without a verdict (hang, crash of the harness): never scored as a zero."""
