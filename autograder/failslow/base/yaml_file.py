"""Reads a YAML file and checks it against a JSON schema of the package."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from failslow.base.errors import CannotDo

DATA = Path(__file__).resolve().parent / "data"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's is ten times as fast; a platform may lack it."""


def schema(name: str) -> dict[str, Any]:
    text = (DATA / f"{name}.schema.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def load(path: Path, schema_name: str) -> dict[str, Any]:
    """The validated content. CannotDo, with a line that names file and field, if it is invalid."""
    try:
        content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), LOADER)
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"cannot read {path}: {error}") from error
    except yaml.YAMLError as error:
        raise CannotDo(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    complaint = first_complaint(content, schema_name)
    if complaint:
        raise CannotDo(f"{path}: {complaint}")
    return content


def first_complaint(content: object, schema_name: str) -> str | None:
    """The most relevant violation of a schema as 'field: reason', or None."""
    validator = jsonschema.Draft202012Validator(schema(schema_name))
    error = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if error is None:
        return None
    where = "/".join(str(step) for step in error.absolute_path)
    return f"{where}: {error.message}" if where else error.message
