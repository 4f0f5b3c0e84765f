"""What the chat's other endpoints take and give. Source: 01-chat, "Other endpoints of chat"."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, Field
from rest_framework import serializers

from audit.models import ChatSession, DiagnosisRun
from chat.models import MAX_COMMENT_CHARACTERS, Rating


class SessionSerializer(serializers.ModelSerializer[ChatSession]):
    class Meta:
        model = ChatSession
        fields = ("session_id", "title", "created_at", "last_active_at")
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer[DiagnosisRun]):
    """A run as its asker may see it: the question, the state, and exactly what was released.

    `feedback` is the rating, or null.
    """

    feedback = serializers.SerializerMethodField()

    class Meta:
        model = DiagnosisRun
        fields = (
            "run_id",
            "user_query",
            "intent",
            "status",
            "release_outcome",
            "failure_code",
            "released_content",
            "started_at",
            "finished_at",
            "feedback",
        )
        read_only_fields = fields

    def get_feedback(self, run: DiagnosisRun) -> str | None:
        return feedback_of(run)


class FeedbackSerializer(serializers.Serializer[Any]):
    run_id = serializers.UUIDField()
    rating = serializers.ChoiceField(choices=Rating.choices)
    comment = serializers.CharField(max_length=MAX_COMMENT_CHARACTERS, allow_blank=True, default="")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values: dict[str, Any] = super().to_internal_value(data)
        unknown = [str(name) for name in data if name not in self.fields] if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_("This field is not known.")] for name in unknown})
        return values


class CancelledRunSerializer(serializers.Serializer[Any]):
    run_id = serializers.UUIDField()


class ErrorBody(BaseModel):
    """The one shape of every refusal."""

    code: str
    message: str
    errors: dict[str, list[str]] | None = Field(default=None, description="What is wrong, by field.")


def feedback_of(run: DiagnosisRun) -> str | None:
    """The rating, if its asker gave one. Costs no query on a run selected with `select_related("feedback")`."""
    feedback = getattr(run, "feedback", None)
    return feedback.rating if feedback is not None else None
