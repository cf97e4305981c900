"""The knowledge of lab 1 alone: see failslow/extras/lab_kits.py.

Oral questions on the steps of a script: the runs of a lab without a protocol consist of them.
"""

import re
from collections.abc import Iterator

NAMES_FAULTY_STEPS = True

_STEP = re.compile(r"(#\d+) +\w+: (.*?)  ->  (.*)", re.S)
_SUBJECT = r"(?:quorum|promise|call|or|and) [A-Z]\b"
_ADDED = re.compile(rf"add ({_SUBJECT}) to ({_SUBJECT})")

LOOK, WAIT = "look at", "wait for"
VERBS = {
    LOOK: "Which lines of your code make up this state?",
    WAIT: "Which line ends this wait, and which would end it in another way?",
    "add ": "Who owns the child, and what if it is ready before it is added?",
    " ready": "In which order does your code wake the coroutines that wait for this?",
    "says": "What does your code check before it counts this vote?",
}
"""A kind by the words that a step has, and the question that leads to the code."""

SHOWN_MAX = 6


def oral_questions(
    marks: list[tuple[str, str]],
) -> Iterator[tuple[str, str, str, tuple[str, ...], str]]:
    """A step that shows something, and what decided that; or one that changes something, and where
    that shows."""
    found = ((at, _STEP.fullmatch(text)) for at, text in marks)
    steps = [(at, *each.groups()) for at, each in found if each]
    whole = {each[1]: each[2] for each in (_ADDED.search(text) for _, _, text, _ in steps) if each}
    for place, (at, number, text, result) in enumerate(steps):
        subjects = re.findall(_SUBJECT, text)
        verb = next((verb for verb in VERBS if verb in text), None)
        if verb is None or not subjects:
            continue
        if verb in (LOOK, WAIT):
            of = subjects[0]
            told = [s for s in steps[:place] if of in s[2]]
            made = [n for n, s in enumerate(told) if f"make {of}," in s[2]]
            told = told[made[-1] if made else 0 :][-SHOWN_MAX:]
            asked = f"What does it come to, and which earlier steps on {of} decide that?"
            told.append((at, number, text, result))
        else:
            of = whole.get(subjects[0], subjects[0])
            told = [s for s in steps[place + 1 :] if of in s[2] and (LOOK in s[2] or WAIT in s[2])]
            told = told[:1]
            asked = f"Which is the next step that shows {of}, and what has this one changed?"
        if told:
            question = f"Step {number} of the script, at {at}: {text}. {asked}"
            answer = tuple(f"{a} {n} {t}: {r}" for a, n, t, r in told)
            yield f"step: {verb.strip()}", number, question, answer, VERBS[verb]
