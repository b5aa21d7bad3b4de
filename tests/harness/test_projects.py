"""A project is known wherever its repository turns up, and never by what a stranger's repository says of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import InvalidRequest
from vault_memory.files.repository import repository_facts
from vault_memory.harness import projects
from vault_memory.harness.edits import execute
from vault_memory.harness.project_edits import plan_bind, plan_create, plan_merge, plan_pin
from vault_memory.harness.projects import Resolution, load_registry, resolve
from vault_memory.memory.project_id import identity, remote_id

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}
URL = "https://github.com/Acme/Api.git"


def git(folder: Path, *arguments: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, text: str) -> str:
    (folder / "file.txt").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", text)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path, *, url: str | None = URL, commits: int = 2) -> Path:
    git(folder, "init", "-q")
    for number in range(commits):
        commit(folder, f"{folder.name} {number}")
    if url:
        git(folder, "remote", "add", "origin", url)
    return folder


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault" / ".vault-memory").mkdir(parents=True)
    return tmp_path / "vault"


def look(vault: Path, folder: Path) -> Resolution:
    facts = repository_facts(folder)
    return resolve(facts, load_registry(vault), pin=projects.pinned(Path(facts.top)), outside=(str(vault),))


def bind(vault: Path, folder: Path, slug: str | None = None) -> None:
    found = look(vault, folder)
    assert slug or found.slug
    execute([plan_bind(vault, slug or str(found.slug), repository_facts(folder))])


def test_a_new_repository_is_named_after_its_remote_and_counts_by_its_first_commit(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "checkout")
    first = git(repo, "rev-list", "--max-parents=0", "HEAD")

    found = look(vault, repo)

    assert (found.status, found.slug, found.identity) == ("new", "api", f"commit:{first}")
    assert found.remote == "remote:github.com/acme/api"


def test_sub_folders_work_trees_moves_and_clones_are_the_same_project(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "original")
    bind(vault, repo)
    (repo / "src" / "déjà vu").mkdir(parents=True)
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    git(tmp_path, "clone", "-q", str(repo), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", "git@github.com:acme/api.git")
    git(tmp_path, "clone", "-q", str(repo), "near")

    for folder in (repo / "src" / "déjà vu", tmp_path / "tree", tmp_path / "clone", tmp_path / "near"):
        assert (look(vault, folder).status, look(vault, folder).slug) == ("known", "api"), folder
    shutil.rmtree(tmp_path / "tree")
    repo.rename(tmp_path / "moved")
    assert (look(vault, tmp_path / "moved").status, look(vault, tmp_path / "moved").slug) == ("known", "api")


def test_a_renamed_remote_is_known_by_its_place_and_learned(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "repo")
    bind(vault, repo)
    git(repo, "remote", "rename", "origin", "upstream")
    git(repo, "remote", "set-url", "upstream", "https://github.com/acme/renamed")

    found = look(vault, repo)

    assert (found.status, found.slug, found.learn) == ("known", "api", ("remote:github.com/acme/renamed",))


def test_what_was_saved_before_the_first_commit_stays_with_the_project(tmp_path: Path, vault: Path) -> None:
    folder = tmp_path / "Idea Nr 1"
    folder.mkdir()
    bind(vault, folder)
    assert look(vault, folder).slug == "idea-nr-1"

    git(folder, "init", "-q")
    assert (look(vault, folder).status, look(vault, folder).slug) == ("known", "idea-nr-1")
    bind(vault, folder)
    first = commit(folder, "one")

    found = look(vault, folder)
    assert (found.status, found.slug, found.learn) == ("known", "idea-nr-1", (f"commit:{first}",))
    bind(vault, folder)
    assert look(vault, folder).learn == ()
    folder.rename(tmp_path / "elsewhere")
    assert look(vault, tmp_path / "elsewhere").slug == "idea-nr-1"


def test_another_repository_at_the_same_place_is_another_project(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "work", url=None)
    bind(vault, repo)
    shutil.rmtree(repo)
    repository(repo, url=None, commits=1)
    commit(repo, "quite different")
    git(repo, "checkout", "-q", "--orphan", "main2")
    commit(repo, "other root")
    git(repo, "branch", "-qD", "main")

    found = look(vault, repo)

    assert found.status == "new"
    assert found.slug
    assert found.slug.startswith("work-")


def test_a_shallow_clone_counts_by_its_remote(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "origin", commits=3)
    bind(vault, repo)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", "ssh://git@github.com:22/acme/api")

    found = look(vault, tmp_path / "shallow")

    assert (found.status, found.slug, found.identity) == ("known", "api", "remote:github.com/acme/api")


def test_a_full_clone_after_a_shallow_one_joins_its_project(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "origin", commits=3)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", URL)
    bind(vault, tmp_path / "shallow")

    found = look(vault, repo)

    assert (found.status, found.slug) == ("known", "api")
    assert found.learn[0].startswith("commit:")


def test_a_fork_is_asked_about_and_keeps_apart_until_allowed(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "original")
    bind(vault, repo)
    git(tmp_path, "clone", "-q", str(repo), "fork")
    fork = tmp_path / "fork"
    git(fork, "remote", "set-url", "origin", "https://github.com/mallory/api")

    asked = look(vault, fork)
    assert (asked.status, asked.claims) == ("untrusted", "api")
    assert asked.slug not in (None, "api")
    assert "github.com/mallory/api" in asked.reason

    bind(vault, fork, "api")
    assert (look(vault, fork).status, look(vault, fork).slug) == ("known", "api")


def test_a_fork_that_is_pinned_is_a_project_of_its_own(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "original")
    bind(vault, repo)
    git(tmp_path, "clone", "-q", str(repo), "fork")
    execute([plan_pin(tmp_path / "fork", "api-fork")])

    found = look(vault, tmp_path / "fork")

    assert (found.status, found.slug) == ("new", "api-fork")


def test_a_pinned_fork_keeps_to_itself_once_it_is_listed(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "original")
    bind(vault, repo)
    git(tmp_path, "clone", "-q", str(repo), "fork")
    execute([plan_pin(tmp_path / "fork", "api-fork")])
    bind(vault, tmp_path / "fork")

    assert (look(vault, tmp_path / "fork").status, look(vault, tmp_path / "fork").slug) == ("known", "api-fork")
    assert (look(vault, repo).status, look(vault, repo).slug) == ("known", "api")


def test_a_repository_of_another_project_is_not_bound_over(tmp_path: Path, vault: Path) -> None:
    repo = repository(tmp_path / "original")
    bind(vault, repo)
    with pytest.raises(InvalidRequest, match="belongs to api"):
        bind(vault, repo, "other")


def test_a_pin_does_not_open_another_projects_memories(tmp_path: Path, vault: Path) -> None:
    bind(vault, repository(tmp_path / "secret"), "secret")
    evil = repository(tmp_path / "evil", url="https://example.com/evil.git")
    (evil / ".vault-memory.toml").write_text('project = "secret"\n')

    found = look(vault, evil)

    assert (found.status, found.claims) == ("untrusted", "secret")
    assert found.slug == "evil"


@pytest.mark.parametrize(
    "text", ['project = "../../etc"', 'project = "global"', "project = 3", "project = ", "", "x" * 20_000]
)
def test_a_pin_that_is_no_slug_counts_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / ".vault-memory.toml").write_text(text)
    assert projects.pinned(tmp_path) is None


def test_a_pin_keeps_the_rest_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / ".vault-memory.toml"
    path.write_bytes(b'# ours\r\nother = 1\r\nproject = "old" # why\r\n')
    execute([plan_pin(tmp_path, "new")])
    assert path.read_bytes() == b'# ours\r\nother = 1\r\nproject = "new" # why\r\n'
    assert projects.pinned(tmp_path) == "new"


def test_the_vault_itself_and_the_home_folder_are_no_project(tmp_path: Path, vault: Path) -> None:
    git(vault, "init", "-q")
    assert (look(vault, vault / ".vault-memory").status, look(vault, vault).slug) == ("none", None)
    assert resolve(repository_facts(Path("/")), load_registry(vault)).status == "none"


def test_a_side_branch_with_its_own_beginning_is_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    main = identity(repository_facts(repo))
    git(repo, "checkout", "-q", "--orphan", "gh-pages")
    commit(repo, "site")
    assert identity(repository_facts(repo)) == main


def test_a_merged_foreign_history_changes_nothing(tmp_path: Path) -> None:
    repo, other = repository(tmp_path / "repo"), repository(tmp_path / "other", url=None)
    before = identity(repository_facts(repo))
    git(repo, "fetch", "-q", str(other), "main")
    git(repo, "merge", "-q", "--allow-unrelated-histories", "-X", "ours", "-m", "join", "FETCH_HEAD")
    assert identity(repository_facts(repo)) == before


def test_without_git_the_folder_counts(tmp_path: Path, vault: Path) -> None:
    facts = repository_facts(repository(tmp_path / "repo"), program="no-such-git")
    assert identity(facts).startswith("folder:")
    assert resolve(facts, load_registry(vault)).slug == "repo"


def test_two_repositories_of_one_name_get_different_slugs(tmp_path: Path, vault: Path) -> None:
    bind(vault, repository(tmp_path / "a" / "api", url=None))
    found = look(vault, repository(tmp_path / "b" / "api", url="https://gitlab.com/other/api"))
    assert found.status == "untrusted" or found.slug != "api"
    assert found.slug
    assert found.slug.startswith("api")


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/Api.git",
        "https://user:token@github.com/acme/api/",
        "git@github.com:acme/api.git",
        "ssh://git@github.com:22/acme/api.git",
        "git://GitHub.com/acme/api",
        "github.com:acme/api",
    ],
)
def test_one_remote_has_one_id_in_every_spelling_and_never_a_token(address: str) -> None:
    assert remote_id(address) == "remote:github.com/acme/api"


@pytest.mark.parametrize("address", ["/srv/git/api", "file:///srv/git/api", "/srv/git/api/", "/srv/git/api/.git"])
def test_a_remote_on_this_machine_is_the_folder_it_names(address: str) -> None:
    assert remote_id(address) == remote_id("/srv/git/api")
    assert str(remote_id(address)).startswith("folder:")


@given(st.text(max_size=40))
def test_no_address_makes_reading_it_fail(address: str) -> None:
    found = remote_id(address)
    assert found is None or found.startswith(("remote:", "folder:"))


def test_the_list_keeps_comments_and_unknown_keys(vault: Path, tmp_path: Path) -> None:
    path = vault / projects.PROJECTS_FILE
    path.write_text('# ours\n[projects.old]\ntitle = "Old" # t\nextra = 1\n')
    execute([plan_create(vault, "new", title="New", stacks=["python"])])
    bind(vault, repository(tmp_path / "repo"), "old")

    text = path.read_text()
    assert text.startswith('# ours\n[projects.old]\ntitle = "Old" # t\nextra = 1\n')
    assert list(tomllib.loads(text)["projects"]) == ["old", "new"]


def test_a_merge_unites_the_repositories_and_drops_the_old_project(vault: Path, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one", url=None), repository(tmp_path / "two", url="https://x.org/two")
    bind(vault, one)
    bind(vault, two)
    execute([plan_merge(vault, "two", "one")])

    assert list(load_registry(vault).projects) == ["one"]
    assert look(vault, two).slug == look(vault, one).slug == "one"


@pytest.mark.parametrize("slug", ["global", "Upper", "a/b", "", "-x", "a" * 65])
def test_names_that_no_project_may_have_are_refused(slug: str, vault: Path) -> None:
    with pytest.raises(InvalidRequest):
        plan_create(vault, slug)


@pytest.mark.parametrize("text", ["projects = 3", "[projects.a]\nremotes = 1", "[projects]\na = 1", "x = "])
def test_a_broken_list_is_refused_with_its_name(text: str, vault: Path) -> None:
    (vault / projects.PROJECTS_FILE).write_text(text)
    with pytest.raises(InvalidRequest, match=r"projects\.toml"):
        load_registry(vault)
