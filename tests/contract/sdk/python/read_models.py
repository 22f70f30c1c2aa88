"""Reads responses with the models of datamodel-code-generator, and reports lost data.

`SPECD_SDK_ANSWERS` is a file with a list of pairs: the name of a schema, and a response.
"""

import json
import os
from pathlib import Path

import models

answers = json.loads(Path(os.environ["SPECD_SDK_ANSWERS"]).read_text(encoding="utf-8"))
for schema, answer in answers:
    read = getattr(models, schema).model_validate(answer)
    written = json.loads(read.model_dump_json(by_alias=True, exclude_unset=True))
    assert answer.items() <= written.items(), (schema, answer, written)
print(len(answers))
