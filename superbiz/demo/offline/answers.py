"""The answer from documents: their own sentences, in the order of relevance."""

from superbiz.demo.offline.conversation import JsonObject
from superbiz.demo.offline.passages import quote, sentences, terms
from superbiz.demo.offline.question import read_question

SHOWN_PASSAGES = 3
SHOWN_SENTENCES = 3


def answer_from(query: str, evidence: list[JsonObject]) -> JsonObject:
    """`{"answer", "references", "limitations"}`. Source: 02-harness, "Model boundary"."""
    chinese = read_question(query).chinese
    wanted = terms(query)
    paragraphs, references = [], []
    for passage in evidence[:SHOWN_PASSAGES]:
        found = list(sentences(passage))
        best = set(sorted(found, key=lambda sentence: -len(terms(sentence) & wanted))[:SHOWN_SENTENCES])
        told = ("" if chinese else " ").join(sentence for sentence in found if sentence in best)
        title, document = quote(str(passage.get("title", ""))), str(passage.get("document_id", ""))
        if told:
            paragraphs.append(f"《{title}》：{told}" if chinese else f"{title}: {told}")
            references.append(document)
    if not paragraphs and evidence:
        title = quote(str(evidence[0].get("title", "")))
        paragraphs = [f"请直接阅读《{title}》。" if chinese else f"See the document {title} itself."]
        references = [str(evidence[0].get("document_id", ""))]
    limitation = (
        "由离线演示模型摘录文档原句，未作归纳。"
        if chinese
        else "Made by the offline demo model: sentences of the documents, not summarised."
    )
    return {
        "answer": "\n\n".join(paragraphs),
        "references": list(dict.fromkeys(references)),
        "limitations": [limitation],
    }
