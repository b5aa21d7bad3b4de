"""Judgements about a text that a write gate needs: does it say anything, does it try to give orders. Pure."""

from __future__ import annotations

import re
from typing import Final

MAX_CONTENT_BYTES: Final = 100_000
MAX_TITLE_CHARACTERS: Final = 300
MAX_TAGS: Final = 50
MAX_TAG_CHARACTERS: Final = 50

_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_SMALL_TALK: Final = {
    "an acknowledgement": frozenset(
        """ok okay k kk yes yep yeah yup no nope sure thanks thank you thx ty great good nice cool perfect awesome
        excellent got it understood noted roger done fine alright right sounds makes sense will do of course lgtm
        agreed exactly correct np welcome no problem happy to help my pleasure that works all so very much""".split()
    ),
    "a greeting": frozenset(
        "hi hello hey good morning afternoon evening there bye goodbye see you later cheers".split()
    ),
    "a retry": frozenset(
        "retry retrying try trying again once more let me i will failed attempt rerun rerunning second third".split()
    ),
    "progress chatter": frozenset(
        """working on it in progress starting started running continuing continue proceeding processing almost finished
        finishing still now next step loading reading checking looking let me i am going to will the this that file
        files code at for a moment please wait one sec second just""".split()
    ),
}
_ORDERS: Final = re.compile(
    r"""\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|the\s+|your\s+|every\s+)*
        (?:previous|prior|above|earlier|preceding|system|safety|existing)\b
    |\b(?:reveal|print|show|leak|repeat|output)\s+(?:me\s+)?(?:your|the)\s+(?:system|hidden|initial|developer)\s+
        (?:prompt|instructions?|message)
    |\byou\s+(?:are\s+now|must\s+now|will\s+now\s+act)\b
    |\b(?:new|updated)\s+(?:system\s+)?instructions?\s*:
    |<\s*/?\s*(?:system|assistant|instructions?)\s*>|\[/?(?:INST|SYSTEM)\]|<\|im_(?:start|end)\|>
    |\bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to)\s+(?:the\s+)?user\b
    |\b(?:exfiltrate|send|upload|post|forward)\b.{0,60}\b(?:secrets?|passwords?|credentials?|tokens?|api\s+keys?|\.env)\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def low_signal(content: str) -> str | None:
    """Why a text is not worth keeping ("an acknowledgement", "a greeting", …); None when it may be worth it.

    Only short texts made of nothing but small talk are named: what mentions any other word, a number or a path is kept,
    because a lost fact costs more than a kept "ok".
    """
    words = [word.lower() for word in _WORD.findall(content)]
    if not words:
        return "nothing but signs" if content.strip() else "blank"
    if len(words) > 12:
        return None
    for name, vocabulary in _SMALL_TALK.items():
        if vocabulary.issuperset(words):
            return name
    everything = frozenset().union(*_SMALL_TALK.values())
    return "small talk" if len(words) <= 8 and everything.issuperset(words) else None


def instruction_like(content: str) -> bool:
    """True when a text addresses a model as if to steer it ("ignore all previous instructions")."""
    return _ORDERS.search(content) is not None
