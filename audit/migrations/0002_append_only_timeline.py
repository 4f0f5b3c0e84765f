"""PostgreSQL itself refuses to change the timeline."""

from django.db import migrations

CREATE = """
CREATE FUNCTION diagnosis_trace_event_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('superbiz.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'diagnosis_trace_event is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER diagnosis_trace_event_append_only BEFORE UPDATE OR DELETE ON diagnosis_trace_event
    FOR EACH ROW EXECUTE FUNCTION diagnosis_trace_event_append_only();
"""
DROP = """
DROP TRIGGER diagnosis_trace_event_append_only ON diagnosis_trace_event;
DROP FUNCTION diagnosis_trace_event_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_tables")]
    operations = [migrations.RunSQL(CREATE, DROP)]
