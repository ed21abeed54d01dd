"""An app in which nearly everything is declared wrongly, to see how `manage.py check` tells it."""
