"""Fixed texts of the executors, in both languages. They are content, stored with the run, so they are not gettext's."""

from harness.tools.base import JsonObject


def no_knowledge(language: str) -> JsonObject:
    """The answer when no document fits. Source: 04-diagnosis, "Executors"."""
    if language == "en":
        return {
            "answer": "The internal documents hold nothing about this question.",
            "references": [],
            "limitations": [
                "Only the documents that were ingested were searched, once, with the words of the question."
            ],
        }
    return {
        "answer": "内部文档中没有找到与该问题相关的内容。",
        "references": [],
        "limitations": ["仅用问题原文在已入库的文档中检索了一次。"],
    }
