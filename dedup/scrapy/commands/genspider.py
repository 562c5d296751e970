"""`scrapy genspider -t dedup NAME URL`: a spider whose items are deduplicated."""

from __future__ import annotations

from pathlib import Path

from scrapy.commands.genspider import Command as GenspiderCommand

_TEMPLATE = Path(__file__).parents[1] / "templates" / "dedup.tmpl"


class Command(GenspiderCommand):
    """Has one more template than Scrapy's command."""

    def _find_template(self, template: str) -> Path | None:
        if template == _TEMPLATE.stem:
            return _TEMPLATE
        return super()._find_template(template)

    def _list_templates(self) -> None:
        super()._list_templates()
        print(f"  {_TEMPLATE.stem}")
