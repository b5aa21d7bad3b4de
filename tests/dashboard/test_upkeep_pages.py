"""Settings, Maintenance and Review in a real browser: who may enter, what is being done, and what wants a person."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.test_pages import Open, note, status, store, wait_for
from tests.surfaces.rest_server import Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_token_is_issued_shown_once_and_revoked(open_page: Open, server: Server) -> None:
    page = open_page("settings")
    page.fill("input[placeholder^=laptop]", "notebook")
    page.fill("input[list=token-projects]", "shop")
    page.check("text=reads only")
    page.click("text=Issue a token")
    token = page.inner_text("dialog .secret")
    seen = server.post("list", {"limit": 100}, token=token).json["items"]
    assert {one["project"] for one in seen} <= {"shop", None}
    assert server.post("remember", {"content": "Not allowed to write this.\n"}, token=token).status == 403
    page.click("dialog >> text=Done")
    assert token not in page.content()
    assert "project shop" in page.inner_text("tr:has-text('notebook')")
    page.click("tr:has-text('notebook') >> text=Revoke")
    assert server.post("stats", {}, token=token).status == 200, "nothing happens before the plan is confirmed"
    page.click("dialog button:has-text('Revoke')")
    page.wait_for_selector("tr:has-text('notebook')", state="detached")
    assert server.post("stats", {}, token=token).status == 401


def test_settings_show_the_agents_and_what_is_set_but_no_key(open_page: Open) -> None:
    page = open_page("settings")
    page.wait_for_selector("text=Who has written here")
    assert "claude-code" in page.inner_text(".writers")
    page.check("text=with those that nobody set")
    page.wait_for_selector(".values >> text=half life days")
    assert "bm25" in page.inner_text("main")
    assert "api key" not in page.inner_text("main")


def test_what_is_the_owners_is_refused_to_a_programs_token(server: Server) -> None:
    token = server.ask("POST", "/dashboard/tokens", {"name": "program"}).json["token"]
    for path in ("tokens", "settings", "clients", "backup", "reindex"):
        assert server.ask("GET", f"/dashboard/{path}", token=token).status == 403, path
    for path in ("trail", "repository"):
        assert server.ask("GET", f"/dashboard/{path}", token=token).status == 403, path
    assert server.ask("POST", "/dashboard/tokens", {"name": "another"}, token=token).status == 403
    assert server.ask("POST", "/dashboard/reindex", {}, token=token).status == 403
    assert server.ask("DELETE", "/dashboard/tokens/program", {}, token=token).status == 403
    assert server.ask("DELETE", "/dashboard/tokens/program", {}).status == 200
    assert server.ask("GET", "/dashboard/tokens", token=token).status == 401


def test_colours_are_chosen_and_kept(open_page: Open) -> None:
    page = open_page("settings")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.check("text=dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    page.wait_for_selector("main h1")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_the_indexes_are_made_anew_and_the_page_tells_how_far_it_is(open_page: Open) -> None:
    page = open_page("maintenance")
    page.evaluate("""() => {
        window.told = [];
        new MutationObserver(() => told.push(document.querySelector('.progress')?.textContent))
            .observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
    }""")
    page.click("text=Make anew")
    page.click("dialog button:has-text('Make anew')")
    page.wait_for_selector(".progress >> text=Done:", timeout=60_000)
    assert any("starting" in text or "reading" in text for text in page.evaluate("told.filter(Boolean)"))


def test_a_backup_is_one_file_with_every_note_byte_for_byte(open_page: Open, server: Server, tmp_path: Path) -> None:
    page = open_page("maintenance")
    with page.expect_download() as waiting:
        page.click("text=Download a backup")
    place = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(place)
    with zipfile.ZipFile(place) as backup:
        inside = {name.split("/", 1)[-1]: name for name in backup.namelist()}
        for path in server.root.glob("memories/**/*.md"):
            relative = path.relative_to(server.root).as_posix()
            found = inside.get(relative) or inside[relative.split("/", 1)[-1]]
            assert backup.read(found) == path.read_bytes()


def test_the_audit_trail_names_the_writer_and_takes_a_write_back(open_page: Open, server: Server) -> None:
    ref = store(server, "Green door", "The green door is for deliveries.\n")
    server.post("update", {"ref": ref, "content": "The green door is locked.\n", "reason": "painters"})
    page = open_page("maintenance")
    row = "tr:has-text('painters')"
    page.wait_for_selector(row)
    assert "you" in page.inner_text(row)
    page.click(f"{row} >> text=Undo…")
    page.wait_for_selector("dialog .plan >> text=becomes what it was before")
    assert "locked" in note(server, "green-door").read_text()
    page.click("dialog button:has-text('Take back')")
    wait_for(lambda: "deliveries" in note(server, "green-door").read_text())
    page.click(".toast >> text=Undo")
    wait_for(lambda: "locked" in note(server, "green-door").read_text())


def test_git_is_shown_with_its_branch_and_what_is_not_committed(open_page: Open) -> None:
    page = open_page("maintenance")
    page.wait_for_selector(".commits li")
    assert page.inner_text("h2:has-text('Git') .chip") in ("main", "master")


def test_what_has_expired_is_archived_by_a_plan_and_comes_back(open_page: Open, server: Server) -> None:
    ref = store(server, "Sale ends", "The sale ends on Friday.\n", expires_at="2020-01-01")
    page = open_page("review")
    page.wait_for_selector(".wanting >> text=Sale ends")
    page.click("text=Archive them")
    page.wait_for_selector("dialog .plan >> text=Sale ends")
    assert status(server, ref) == "active"
    page.click("dialog button:has-text('Archive')")
    wait_for(lambda: status(server, ref) == "archived")
    page.click(".toast >> text=Undo")
    wait_for(lambda: status(server, ref) == "active")


def test_a_contradiction_is_compared_and_ended(open_page: Open, server: Server) -> None:
    old = store(server, "Gate code is 1111", "The code of the gate is 1111.\n")
    new = store(server, "Gate code is 2222", "The code of the gate is 2222.\n")
    server.post("relate", {"from_ref": new, "to_ref": old, "relation_type": "contradicts"})
    page = open_page("review")
    row = page.locator(".wanting li", has_text="Gate code is 1111").first
    row.get_by_text("Compare").click()
    row.locator(".diff .removed", has_text="1111").wait_for()
    row.get_by_text("Archive “Gate code is 1111”").click()
    page.click("dialog button:has-text('Archive')")
    wait_for(lambda: status(server, old) == "archived")
    page.wait_for_selector(".wanting >> text=Gate code is 1111", state="detached")


def test_secrets_and_findings_on_peoples_notes_are_named_and_never_shown(open_page: Open, server: Server) -> None:
    key = "sk-ant-api03-" + "a8Fk29dLq0Zx7Vb3Nn5Mm1Pp4Rr6Tt8Ww" * 3
    (server.root / "Deploy key.md").write_text(f"The key is {key}\n")
    (server.root / "Half a note.md").write_text("---\ntitle: [broken\n---\ntext\n")
    page = open_page("review")
    page.wait_for_selector("text=Findings on notes")
    assert "Half a note.md" in page.inner_text("main")
    page.click("text=Look through all notes")
    page.wait_for_selector(".wanting >> text=Deploy key.md")
    assert key not in page.inner_text("main")
    for name in ("Deploy key.md", "Half a note.md"):
        (server.root / name).unlink()


def test_a_tag_is_merged_by_a_plan_and_taken_back_at_once(open_page: Open, server: Server) -> None:
    texts = ("The lantern hangs in the porch.\n", "A ladder leans on the shed.\n")
    refs = [store(server, f"Garden thing {n}", text, tags=["gardn"]) for n, text in enumerate(texts)]
    page = open_page("projects")
    page.select_option("select[aria-label=What]", "tag")
    page.select_option("select[aria-label=From]", "gardn")
    page.fill("input[aria-label=To]", "garden")
    page.click("text=Show the plan")
    page.wait_for_selector("dialog .plan li >> nth=1")
    page.click("dialog button:has-text('Carry out')")
    wait_for(lambda: tags(server, refs) == [["garden"], ["garden"]])
    page.click(".toast >> text=Undo")
    wait_for(lambda: tags(server, refs) == [["gardn"], ["gardn"]])


def test_a_project_is_renamed_beyond_the_first_page(open_page: Open, server: Server) -> None:
    for n in range(3):
        store(server, f"Kiosk fact {n}", f"Kiosk {n} has {n + 7} shelves and a lamp.\n", project="kiosk")
    page = open_page("projects")
    page.select_option("select[aria-label=From]", "kiosk")
    page.fill("input[aria-label=To]", "pavilion")
    page.click("text=Show the plan")
    page.click("dialog button:has-text('Carry out')")
    wait_for(lambda: server.post("list", {"project": "pavilion"}).json["total"] == 3)


def tags(server: Server, refs: list[str]) -> list[Any]:
    found = server.post("get", {"refs": refs, "touch": False}).json["memories"]
    return [one["tags"] for one in found]
