"""The JSON Schema of the policy file, for editors: ``python -m dpsql.policy.schema`` prints it."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from dpsql.policy.model import Policy

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

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


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
