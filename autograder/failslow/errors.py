"""The two ways the kit gives up; both end with exit code 2 and one line on stderr."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""All but tab and line feed, with the marks that turn the direction of text."""


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
    characters, which a terminal would obey, are replaced, and the message is one line.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(_CONTROL.sub("?", " ".join(message.split())), _CONTROL.sub("?", detail))


class CouldNotGrade(CannotDo):
    """A test ended without a verdict (hang, crash of the harness): never scored as a zero."""
