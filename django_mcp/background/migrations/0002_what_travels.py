from django.db import migrations

from django_mcp.background.models import JSONText


class Migration(migrations.Migration):
    dependencies = [("django_mcp_background", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="backgroundtask",
            name="locale",
            field=JSONText(
                default=dict, help_text="The language and time zone of its client.", verbose_name="locale"
            ),
        ),
        migrations.AddField(
            model_name="backgroundtask",
            name="trace",
            field=JSONText(
                default=dict, help_text="What its client's tracing calls the call.", verbose_name="trace"
            ),
        ),
        migrations.AddField(
            model_name="backgroundtask",
            name="ticket",
            field=JSONText(
                default=None, help_text="What the queue calls its message.", verbose_name="ticket"
            ),
        ),
    ]
