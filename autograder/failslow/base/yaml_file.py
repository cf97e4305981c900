"""Reads a YAML file and checks it against a JSON schema of the package."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from failslow.base.errors import CannotDo

DATA = Path(__file__).resolve().parent / "data"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's is ten times as fast; a platform may lack it."""


def schema(name: str) -> dict[str, Any]:
    text = _file(name).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def load(path: Path, schema_name: str, valid: Path | None = None) -> dict[str, Any]:
    """The validated content. CannotDo, with a line that names file and field, if it is invalid.

    `valid`: a file that keeps digests of valid texts. To check one takes longer than to read it.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content: dict[str, Any] = yaml.load(text, LOADER)
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"cannot read {path}: {error}") from error
    except yaml.YAMLError as error:
        raise CannotDo(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not has_schema(schema_name):
        return content
    digest = hashlib.sha256(f"{json.dumps(schema(schema_name))}{text}".encode()).hexdigest()
    if valid and valid.is_file() and digest in valid.read_text(encoding="utf-8"):
        return content
    complaint = first_complaint(content, schema_name)
    if complaint:
        raise CannotDo(f"{path}: {complaint}")
    with suppress(OSError):  # it only saves time
        if valid:
            with valid.open("a", encoding="utf-8") as file:
                file.write(f"{digest}\n")
    return content


def has_schema(name: str) -> bool:
    """A students' kit lacks those of the course's own files, which the release has read."""
    return _file(name).is_file()


def _file(schema_name: str) -> Path:
    return DATA / f"{schema_name}.schema.json"


def first_complaint(content: object, schema_name: str) -> str | None:
    """The most relevant violation of a schema as 'field: reason', or None."""
    import jsonschema  # takes longer than all else that reads a file

    validator = jsonschema.Draft202012Validator(schema(schema_name))
    error = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if error is None:
        return None
    where = "/".join(str(step) for step in error.absolute_path)
    return f"{where}: {error.message}" if where else error.message
