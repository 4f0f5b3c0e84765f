"""Operations that could do harm, in English and Chinese; an action that names one needs human confirmation.

A text is read clause by clause. Looking something up ("check whether the pool was restarted", "查看重启次数") and
leaving something alone ("do not restart") are no operations; whatever stays unclear counts as one, because a
confirmation too many costs a click and one too few may cost a database. Source: 04-diagnosis, "Confirmation".
"""

import re


def _either(words: str) -> str:
    """An alternation of `words`, which are regular expressions; `_` stands for a space."""
    return "(?:" + "|".join(words.split()).replace("_", " ") + ")"


_I = re.IGNORECASE
_HAN = "[\u4e00-\u9fff]"
_CLAUSE_ENDS = re.compile(
    r"[,;!?\n，。；：！？、]|:(?!\d)|\.(?=\s|$)|\b(?:and|then|before|after|otherwise|or)\b"
    rf"|并|然后|接着|随后|之后|以后|再|同时|以及|否则|必要时|(?<={_HAN})后(?=[立直进执重删停杀终扩缩修调更回清切])",
    _I,
)

_ENGLISH_VERB = _either(
    """
    re-?start re-?boot bounce kill terminat delet remov purg truncat wip flush evict drain cordon fail_?over
    switch_?over roll_?back rolling_back revert re-?deploy deploy shut(?:ting)?_?down power_?off stop disabl
    re-?initiali[sz] reload upgrad downgrad revok rotat restor overwrit unmount resiz re-?index migrat abort reconfigur
    """
)
_DROPPED = _either(
    """
    tables? database index(?:es)? columns? schema partitions? connections? cache topics? queues? users? views?
    collections? sessions? keys? data volumes? constraints?
    """
)
_CLEARED = _either("caches? queues? tables? data sessions? backlog logs? disk")
_ENGLISH = re.compile(
    rf"\b{_ENGLISH_VERB}(?P<ending>e|ed|ted|ped|led|d|ing|ting|ping|ling|s|es|ion|ions|ation)?\b"
    r"|\bscal(?P<scale>e|ed|ing)\b(?! of\b)"
    r"(?=[^\n]{0,60}?\b(?:up|down|out|in|to|from|by|back|the|replicas?|pods?|instances?)\b)"
    rf"|\bdrop(?P<drop>|ped|ping)\b(?= (?:the |an? |all |this |that |these |old |idle |stale )*[\w`.-]* ?{_DROPPED}\b)"
    r"|\breset(?P<reset>|ting)\b(?= (?:the|all|its|their|this|every)\b)"
    r"|\bcancel(?P<cancel>|led|ed|ling|ing)\b"
    r"(?= [^\n]{0,40}?\b(?:transactions?|quer(?:y|ies)|sessions?|jobs?|orders?|tasks?)\b)"
    r"|\b(?:ban|block)(?P<ban>|ned|ed|ning|ing)\b(?= [^\n]{0,30}?\b(?:ips?|clients?|users?|accounts?|traffic)\b)"
    rf"|\bclear(?P<clear>|ed|ing)\b(?= (?:the |all |out )*[\w-]* ?{_CLEARED}\b)",
    _I,
)
_ENGLISH_CHANGE_VERB = _either(
    """
    chang modif(?:y|i) adjust updat edit increas decreas rais lower reduc tun set enlarg expand shrink extend shorten
    enabl turn(?:ing)?_(?:on|off) bump overrid apply appli patch add double halv widen relax tighten switch rewrit
    replac creat rebuild grant
    """
)
_ENGLISH_OBJECT = _either(
    r"""
    config(?:s|uration|urations)?\b settings?\b parameters?\b propert(?:y|ies)\b pools?\b pool[-\x5f\s]?size timeouts?\b
    limits?\b max\w* min\w* thresholds?\b replicas?\b memory\b heap\b cpu\b capacity\b quotas?\b instances?\b
    threads?\b connections?\b flags?\b switch(?:es)?\b variables?\b rate_?limit\w* firewall routes?\b routing
    weights?\b dns\b certificates?\b permissions?\b privileges?\b ttl\b isolation_level buffer\w* partitions?\b
    shards?\b nodes?\b pods?\b index(?:es)?\b traffic\b standby\b
    """
)
_ENGLISH_CHANGE = re.compile(
    rf"\b{_ENGLISH_CHANGE_VERB}(?P<ending>e|ed|es|s|ing|ting|d)?\b(?! alert| monitor| dashboard)"
    rf"[^\n]{{0,60}}?\b{_ENGLISH_OBJECT}"
    r"|\bset\s+[\w.`-]+\s+to\b"
    r"|\b(?:run|execute|submit)\b(?![^\n]*\b(?:select|read-only|explain)\b)"
    r"[^\n]{0,40}?\b(?:data fix|sql|script|migration|ddl|dml)\b"
    r"|\b(?:updat|correct|repair|fix|backfill|insert|amend|mark|write)(?:e|ed|es|s|ing)?\b[^\n]{0,30}?"
    r"\b(?:data|rows?|records?|orders?|payments?|balances?|status(?:es)?)\b",
    _I,
)
_STATEMENT = re.compile(
    r"\b(?:update\s+[\w.`\"]+\s+set\b|delete\s+from\b|(?:insert|replace)\s+into\b|truncate\s+(?:table\s+)?\w"
    r"|drop\s+(?:table|database|index|view|user|column)\b|alter\s+(?:table|user|database|system)\b"
    r"|create\s+(?:unique\s+)?(?:index|table|user)\b|(?:grant|revoke)\s+\w+|kill\s+(?:query\s+|connection\s+)?-?\d"
    r"|set\s+(?:global|persist)\b|optimize\s+table\b|flush\s+\w+|rm\s+-"
    r"|kubectl\s+(?:delete|scale|rollout|apply|patch|drain|cordon|edit|set)"
    r"|systemctl\s+(?:restart|stop|disable|reload|kill)|docker\s+(?:restart|stop|kill|rm))",
    _I,
)
_ENGLISH_LOOK = re.compile(
    r"\b"
    + _either(
        """
        check verify confirm review inspect look see query find identify monitor watch observe analy[sz]e investigate
        examine count list collect gather compare determine trace track search read audit establish ask correlate
        measure view evaluate assess decide discuss
        """
    )
    + r"\b",
    _I,
)
_ENGLISH_ASKED = re.compile(
    r"\b"
    + _either(
        """
        whether if was were been being got recent(?:ly)? last past previous(?:ly)? any how_(?:many|often) when who why
        which not already ever number_of history_of count_of unexpected
        """
    )
    + r"\b",
    _I,
)
_ENGLISH_NOUN = re.compile(
    r"\s*"
    + _either(
        """
        counts? counter history times?(?:tamps?)? records? logs? events? reasons? rate frequency loops? polic(?:y|ies)
        errors? status metrics? statements? requests? schedule windows?
        """
    )
    + r"\b",
    _I,
)
_ENGLISH_CAUSED = re.compile(r"\b(?:have|having|gets?|getting|is|are|be)\b", _I)
_ENGLISH_COUNTED = re.compile(
    r"\b(?:any|the|recent|last|previous|unexpected|(?:number|history|count) of)(?: recent| unexpected| pod)*\s*$",
    _I,
)
_ENGLISH_ARTICLE = re.compile(r"\b(?:the|an?|any|last|recent|previous|this|that)\s+(?:\w+\s+)?$", _I)
_ENGLISH_NOT = re.compile(
    r"\b"
    + _either(
        """
        do_not don't never avoid without must_not should_not shouldn't cannot can't not no_need_to instead_of
        rather_than prevent refrain_from
        """
    )
    + r"(?: (?:be|being|get|immediately|directly|manually|simply|blindly|yet|any|a|the|unnecessary))*\s*$",
    _I,
)

_CHINESE = re.compile(
    _either(
        r"""
        重启 重新启动 重载 杀掉 杀死 杀进程 杀会话 终止 中止 强制 删除 删掉 清除 清空 清理 清掉 移除 下线 摘除 摘掉
        停止 停掉 停用 停机
        关停 关闭 禁用 驱逐 切换 切流 回滚 回退 重新部署 重新发布 重新上线 发布 部署 上线 升级 降级 熔断 限流 扩容
        缩容 扩缩容 扩展到
        切到 切至 切走 补录 补单 置为 踢出 封禁 拉黑 隔离
        释放连接 回收连接 踢掉 重置 重建 迁移 恢复数据 还原 吊销 轮换 格式化 截断 覆盖
        """
    )
    + rf"|\b(?:kill|drop|truncate|restart)(?=\s*{_HAN})",
    _I,
)
_CHINESE_VERB = _either(
    """
    修改 更改 变更 更新 调整 调大 调小 调高 调低 调至 调到 增大 增加 加大 减小 减少 提高 提升 降低 放宽 放大 收紧
    缩小 缩短 延长 设置 设为
    设定 改为 改成 开启 启用 打开 扩大 扩展 优化 补充 新增 添加 替换 写入 执行
    """
)
_CHINESE_OBJECT = _either(
    r"""
    配置 参数 连接池 线程池 池大小 超时 上限 下限 限制 阈值 副本 实例 节点 内存 堆 容量 线程数 连接数 配额 开关 权重
    路由 策略 权限 证书
    索引 大小 max\w* min\w* timeout pool sql 语句 脚本 命令
    """
)
_CHINESE_CHANGE = re.compile(
    rf"{_CHINESE_VERB}[^，。；]{{0,24}}?{_CHINESE_OBJECT}"
    rf"|[将把][^，。；]{{0,30}}?{_CHINESE_OBJECT}[^，。；]{{0,12}}?{_CHINESE_VERB}",
    _I,
)
_CHINESE_WRITE = re.compile(
    r"[将把][^，。；]{0,24}?(?:更新|修改|改|置|设|订正)[为成]|(?:执行|运行|提交)[^，。；]{0,10}?(?:写入|更新|删除|插入|修复|变更|订正|DDL|DML)"
    r"|(?:订正|修正|修复|补写|回填|更新|修改|写入|插入)[^，。；]{0,10}?(?:数据|记录|表|订单状态|支付状态|字段|库)"
)
_CHINESE_LOOK = re.compile(
    _either(
        """
        检查 查看 确认 核实 核对 核查 查询 查找 排查 观察 监控 监测 分析 统计 收集 采集 评估 对比 比对 梳理 定位 追踪
        跟踪 了解 询问 识别
        审查 审计 回顾 查阅 获取 调取 搜索 检索 判断
        """
    )
)
_CHINESE_ASKED = re.compile(
    _either(
        r"""
        是否 有无 有没有 是不是 有否 曾 被 已 最近 近期 此前 之前 上次 历史 近\s?\d 过去 哪些 何时 谁 为何 为什么
        原因 多少 因
        """
    )
)
_CHINESE_NOUN = re.compile(
    r"\s*的?"
    + _either(
        "次数 记录 历史 日志 时间 时刻 情况 原因 事件 频率 频次 指标 状态 告警 前后 操作 流程 结果 任务 计划 过 了"
    )
)
_CHINESE_NOT = re.compile(
    _either("不要 不应 不得 不可 不能 不建议 请勿 切勿 勿 避免 禁止 严禁 无需 不必 不需要? 暂不 暂缓 防止 而非 而不是")
    + r"(?:再|直接|立即|立刻|盲目|贸然|随意|手动|频繁|对|进行|服务|应用|[\w-]){0,6}$"
)


def needs_confirmation(action: str) -> bool:
    """Whether `action` asks to restart, delete, stop, scale, reconfigure or write something."""
    if any(not _is_negated(action[: match.start()]) for match in _STATEMENT.finditer(action)):
        return True
    return any(_is_operation(clause) for clause in _CLAUSE_ENDS.split(action))


def _is_negated(before: str) -> bool:
    return bool(_ENGLISH_NOT.search(before) or _CHINESE_NOT.search(before))


def _is_operation(clause: str) -> bool:
    english = (match for pattern in (_ENGLISH, _ENGLISH_CHANGE) for match in pattern.finditer(clause))
    chinese = (match for pattern in (_CHINESE, _CHINESE_CHANGE, _CHINESE_WRITE) for match in pattern.finditer(clause))
    return any(_english_is_meant(clause, match) for match in english) or any(
        _chinese_is_meant(clause, match) for match in chinese
    )


def _english_is_meant(clause: str, match: re.Match[str]) -> bool:
    before = clause[: match.start()]
    if _ENGLISH_NOT.search(before):
        return False
    if not _ENGLISH_LOOK.search(before):
        return True
    ending = next((group for group in match.groups() if group), "")
    if ending.endswith("d") and (_ENGLISH_ASKED.search(before) or not _ENGLISH_CAUSED.search(before)):
        return False  # "check which sessions were killed", "look for killed sessions", not "make sure it is restarted"
    if ending.endswith("s") and _ENGLISH_COUNTED.search(before):
        return False
    if ending == "" and _ENGLISH_ARTICLE.search(before):
        return False  # "whether the restart helped"
    return not _ENGLISH_NOUN.match(clause, match.end())


def _chinese_is_meant(clause: str, match: re.Match[str]) -> bool:
    before = clause[: match.start()]
    if _CHINESE_NOT.search(before):
        return False
    if not _CHINESE_LOOK.search(before):
        return True
    if "是否" in clause[match.end() :]:
        return False
    return not (_CHINESE_ASKED.search(before) or _CHINESE_NOUN.match(clause, match.end()))
