"""When a memory is good enough to be told unasked: measured on prompts about a memory, and on prompts about none.

prompts.tsv holds the facts of one project, prompts with the number of the fact they are about, and prompts about none.
"""

from __future__ import annotations

from pathlib import Path

from vault_memory import init_vault, open_vault
from vault_memory.harness.prompt import MAX_HITS, MIN_RELEVANCE


def test_most_prompts_about_a_memory_bring_it_and_hardly_any_other_prompt_brings_one(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in Path(__file__).with_name("prompts.tsv").read_text("utf-8").splitlines()]
    facts = [text for kind, text in rows if kind == "fact"]
    about = [(text, facts[int(kind)]) for kind, text in rows if kind.isdigit()]
    idle = [text for kind, text in rows if kind == "none"]
    init_vault(tmp_path / "vault")
    with open_vault(tmp_path / "vault") as vm:
        vm.remember_many(memories=[{"content": fact} for fact in facts], on_duplicate="keep_both", force=True)

        def told(prompt: str) -> set[str]:
            hits = vm.search(query=prompt, mode="keyword", limit=MAX_HITS, touch=False).hits
            return {hit.memory.content.strip() for hit in hits if hit.relevance >= MIN_RELEVANCE}

        brought = sum(fact in told(prompt) for prompt, fact in about)
        unasked = sum(bool(told(prompt)) for prompt in idle)
    assert brought >= 0.85 * len(about)
    assert unasked <= 0.05 * len(idle)
