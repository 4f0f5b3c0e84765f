"""Routing and small talk by plain rules."""

import re
from typing import Literal, TypeAlias

from superbiz.demo.offline.question import read_question

MAX_FOLLOW_UP = 40
"""A longer message stands for itself (characters)."""

Route: TypeAlias = Literal["SYSTEM_CHAT", "KNOWLEDGE_QUERY", "DIAGNOSIS"]

_CHAT = re.compile(
    r"^\s*(?:你好|您好|嗨|哈喽|在吗|谢谢|多谢|再见|hello|hi|hey|thanks?(?: you)?|bye)[\s!！。,.，?？]*$"
    r"|你是谁|你叫什么|你能(?:做|干|帮)|你会(?:做|干)?什么|怎么使用你|使用说明|自我介绍"
    r"|\bwho are you\b|\bwhat (?:can|do) you\b|\bhow do (?:i|you) (?:use|work)\b(?: you)?[\s?]*$"
    r"|\byour (?:name|capabilit)",
    re.IGNORECASE,
)
_INVESTIGATE = re.compile(
    r"排查|诊断|查一下|帮.{0,4}(?:看|查)|定位|根因|原因|为什么|为何|怎么回事|多少|几[次条个]|统计"
    r"|\bwhy\b|\bdiagnos|\binvestigat|\btroubleshoot|\broot cause|\bhow (?:many|often)\b|\bcount\b"
    r"|\bfind out\b|\bcheck\b",
    re.IGNORECASE,
)
_NOW = re.compile(r"现在|最近|刚才|今天|昨天|\bnow\b|\brecent|\blast \d|\btoday\b|\byesterday\b", re.IGNORECASE)
_STABLE = re.compile(
    r"什么意思|是什么|含义|如何|怎么(?:配置|处理|办|做|用|设置|恢复|申请)|流程|手册|步骤|文档|规范|说明|定义"
    r"|\bwhat (?:does|is|are)\b|\bhow (?:do|to|should|can)\b|\brunbook|\bprocedure|\bmeaning\b|\bsteps?\b|\bexplain\b"
    r"|\bdocument",
    re.IGNORECASE,
)
_GO_ON = re.compile(r"^\s*(?:继续|接着|然后呢?|那|再|还有|呢|go on|continue|and|what about|again|more)", re.IGNORECASE)

_ABOUT_ZH = (
    "我是 SuperBizAgent 的离线演示模型，回答由固定规则生成，不是大模型。我可以只读地查阅内部文档、日志和业务数据库，"
    "并给出每条结论都带引用的诊断报告；我不会重启服务、写入数据或修改配置。请说明服务、现象和时间，例如：订单支付超时，帮我排查。"
)
_ABOUT_EN = (
    "I am the offline demo model of SuperBizAgent: my answers follow fixed rules, I am no language model. "
    "I look up internal documents, logs and business databases, read-only, and write a report in which every claim "
    "has a reference. I never restart, write or reconfigure anything. Name the service, the symptom and the time, for "
    "example: orders time out when paying, please investigate."
)


def route(query: str, last_intent: str | None) -> Route:
    """The current message decides; the last intent only helps a message that names nothing of its own."""
    if _CHAT.search(query):
        return "SYSTEM_CHAT"
    question = read_question(query)
    follows_up = len(query) <= MAX_FOLLOW_UP and not _STABLE.search(query) and (_GO_ON.search(query) or question.bare)
    if follows_up and last_intent == "DIAGNOSIS":
        return "DIAGNOSIS"
    if _INVESTIGATE.search(query) or (_NOW.search(query) and not question.bare):
        return "DIAGNOSIS"
    if _STABLE.search(query):
        return "KNOWLEDGE_QUERY"
    return "DIAGNOSIS" if question.symptoms else "KNOWLEDGE_QUERY"


def about(query: str) -> str:
    """What the demo model says about itself."""
    return _ABOUT_ZH if read_question(query).chinese else _ABOUT_EN
