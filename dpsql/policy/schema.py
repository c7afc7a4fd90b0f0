"""The JSON Schema of the policy file, for editors: ``python -m dpsql.policy.schema`` prints it."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from dpsql.policy.model import Policy
from dpsql.policy.section import Section

__all__ = ["policy_schema", "schema_text"]


class _FileSchema(GenerateJsonSchema):
    """As pydantic writes it, except that no key takes null and that names which are not plain are errors."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return {
            key: value for key, value in super().default_schema(schema).items() if (key, value) != ("default", None)
        }

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        generated = super().dict_schema(schema)
        return generated | ({"additionalProperties": False} if "patternProperties" in generated else {})

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        generated = super().model_schema(schema)
        for key, text in _descriptions(schema["cls"]).items():
            generated["properties"].get(key, {}).setdefault("description", text)
        return generated

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _descriptions(section: type) -> dict[str, str]:
    """What stands below each field of a section, its own and those that it inherits, in the source."""
    above = section.__base__
    inherited = _descriptions(above) if above is not None and issubclass(above, Section) else {}
    (written,) = ast.parse(inspect.getsource(section)).body
    return inherited | {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(written.body if isinstance(written, ast.ClassDef) else ())
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def policy_schema() -> dict[str, Any]:
    """The schema as a mapping, in JSON Schema 2020-12; shared, so do not change it."""
    schema = Policy.model_json_schema(schema_generator=_FileSchema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "dpsql policy"}


def schema_text() -> str:
    """The schema as it is checked in, with a newline at the end."""
    return json.dumps(policy_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
