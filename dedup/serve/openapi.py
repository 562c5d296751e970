"""What `/openapi.json` says: the routes, and the schemas of what they answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

_SCHEMA_PATH = "#/components/schemas/{model}"


class Operation(NamedTuple):
    """A route of one method.

    Attributes:
        method: in lower case.
        answer: its docstring says what is asked.
        model: what pydantic knows the answer by.
        asked: `requestBody` or `parameters`.
    """

    method: str
    path: str
    answer: Callable[[Request], Awaitable[Response]]
    model: Any
    asked: Mapping[str, Any] = {}


def openapi(
    info: Mapping[str, str],
    operations: Sequence[Operation],
    problem: type[BaseModel],
    statuses: Sequence[int],
) -> dict[str, Any]:
    """The description of an API, whose other statuses are all answered with a `problem`."""
    models = [each.model for each in operations]
    schemas, definitions = TypeAdapter.json_schemas(
        [(place, "validation", TypeAdapter(each)) for place, each in enumerate([*models, problem])],
        ref_template=_SCHEMA_PATH,
    )
    refused = {str(each): _answer(each, schemas[len(models), "validation"]) for each in statuses}
    paths: dict[str, Any] = {}
    for place, each in enumerate(operations):
        name = each.answer.__name__
        paths.setdefault(each.path, {})[each.method] = {
            "summary": name.replace("_", " ").title(),
            "description": each.answer.__doc__,
            "operationId": f"{name}{each.path.replace('/', '_')}_{each.method}",
            **each.asked,
            "responses": {"200": _answer(200, schemas[place, "validation"]), **refused},
        }
    components = {"schemas": definitions["$defs"]}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}


def json_body(schema: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """`requestBody` of JSON, or of `others` by content type."""
    content = {"application/json": {"schema": schema}, **others}
    return {"requestBody": {"required": True, "content": content}}


def _answer(status: int, schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"description": HTTPStatus(status).phrase, "content": content}
