"""The catalog's tables: every column and what it means. Owns DDL only; it neither opens a database nor reads a note.

A catalog whose `user_version` differs is rebuilt from the notes without asking, so there are no migrations: change the
tables and raise SCHEMA_VERSION. All of it can be deleted at any time. NULL means "has none" everywhere.
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 2

# `generation` is a counter in `meta`: each note that is recorded or removed takes the next number, so whatever an index
# has applied can be told by one number. Keys of notes and chunks are never used twice (AUTOINCREMENT), so an index that
# lags behind can never mistake a new chunk for an old one.
TABLES: Final = """
CREATE TABLE meta (             -- single values, see META_START
    key   TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE files (            -- what the last scan saw of every file that was read, readable or not
    path       TEXT PRIMARY KEY, -- vault path: POSIX separators, NFC
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    scanned_ns INTEGER NOT NULL  -- clock at the scan: an mtime within 2 s of it proves nothing
) STRICT, WITHOUT ROWID;

CREATE TABLE left_out (         -- what the last scan met and took for no note, and why
    path   TEXT NOT NULL,
    code   TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (path, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (            -- one row a note: the parsed memory with its effective times
    note           INTEGER PRIMARY KEY AUTOINCREMENT,
    path           TEXT NOT NULL UNIQUE,
    path_key       TEXT NOT NULL,   -- folded path and its last part, by which links find the note
    name_key       TEXT NOT NULL,
    id             TEXT,            -- as stated; two notes may hold the same one
    ref            TEXT NOT NULL,   -- id, else path
    generation     INTEGER NOT NULL, -- when this row was last recorded
    kind           INTEGER NOT NULL, -- row of `kinds` with the same status, memory_type, project, actor, ...
    derived        INTEGER NOT NULL, -- 1 when `chunks` holds its chunks, 0 while they are still to be made
    status         TEXT NOT NULL,
    memory_type    TEXT NOT NULL,
    project        TEXT,            -- NULL = global
    actor          TEXT,            -- NULL = nobody's
    created_at     TEXT NOT NULL,   -- effective times, UTC, fixed width (see rows.time_text), so they sort as text
    updated_at     TEXT NOT NULL,
    expires_at     TEXT,
    valid_from     TEXT,
    valid_to       TEXT,
    importance     REAL NOT NULL,
    confidence     REAL NOT NULL,
    verification   TEXT NOT NULL,
    pinned         INTEGER NOT NULL,
    version        INTEGER NOT NULL,
    source         TEXT NOT NULL,
    source_id      TEXT,
    domain         TEXT,
    session        TEXT,
    agent          TEXT,
    url            TEXT,            -- as stored in the note
    url_key        TEXT,            -- without scheme, www. and tracking parameters: what url matching compares
    site           TEXT,            -- host without www.
    title          TEXT NOT NULL,
    revision       TEXT NOT NULL,   -- hash of the file's bytes
    content_hash   TEXT NOT NULL,   -- SHA-256 of the content
    conflict_copy  INTEGER NOT NULL, -- 1 when the file name is that of a sync tool's conflict copy
    stated_created TEXT,            -- created_at and updated_at as the front matter states them
    stated_updated TEXT,
    tags_folded    TEXT NOT NULL,   -- case-folded stored tags, one a line: what `q` searches beside the content
    fields         TEXT NOT NULL,   -- JSON: what else the memory holds (lists, relations, metadata, findings, stated)
    head           TEXT NOT NULL,   -- the file's text before the content: head + content = the file
    content        TEXT NOT NULL,
    folded         TEXT             -- case-folded content, only when lower(content) of SQLite (ASCII) differs from it
) STRICT;

CREATE TABLE note_tags (        -- tags for filters; their order is in notes.fields
    tag    TEXT NOT NULL,
    note   INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    inline INTEGER NOT NULL,     -- 1 when only the body has it (#tag)
    kind   INTEGER NOT NULL,     -- that of the note
    PRIMARY KEY (tag, note)
) STRICT, WITHOUT ROWID;

CREATE TABLE note_names (       -- titles and aliases, for lookups
    name TEXT NOT NULL,          -- as written
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    key  TEXT NOT NULL,          -- folded (behind the key columns: SQLite 3.40's integrity check errs otherwise)
    PRIMARY KEY (name, note)
) STRICT, WITHOUT ROWID;

CREATE TABLE note_links (       -- links as written; where they lead is asked when it is needed, as other notes move
    note     INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    n        INTEGER NOT NULL,   -- order in the note
    target   TEXT NOT NULL,      -- without brackets, heading and alias
    key      TEXT NOT NULL,      -- folded last part of the target without .md: finds candidates for backlinks
    style    TEXT NOT NULL,      -- 'wiki' or 'markdown'
    relation TEXT,               -- relation type; NULL for a link in the body
    PRIMARY KEY (note, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (         -- what is odd about a file, for status and doctor
    path        TEXT NOT NULL,
    n           INTEGER NOT NULL,
    code        TEXT NOT NULL,
    reason      TEXT NOT NULL,
    line        INTEGER,
    blocks_edit INTEGER NOT NULL,
    PRIMARY KEY (path, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE kinds (            -- every combination of the few-valued fields that occurs: lists narrow by
    kind         INTEGER PRIMARY KEY, -- kinds instead of by notes, and `notes` makes totals free
    status       TEXT NOT NULL,
    memory_type  TEXT NOT NULL,
    project      TEXT,
    actor        TEXT,
    source       TEXT NOT NULL,
    agent        TEXT,
    verification TEXT NOT NULL,
    notes        INTEGER NOT NULL -- exact number of notes of the kind, 1 or more
) STRICT;

CREATE TABLE chunks (           -- the searchable pieces of notes: the source from which all indexes are applied
    chunk      INTEGER PRIMARY KEY AUTOINCREMENT,
    note       INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    n          INTEGER NOT NULL,  -- 0, 1, ... in the note
    start      INTEGER NOT NULL,  -- characters of notes.content, half-open
    end        INTEGER NOT NULL,
    heading    TEXT NOT NULL,     -- the heading it stands under; '' when none
    terms      TEXT NOT NULL,     -- analysed terms of title, tags, domain and text, joined by spaces, with repetitions
    length     INTEGER NOT NULL,  -- number of terms
    extra      TEXT NOT NULL,     -- terms that select but never score: path, urls, a person's own keys
    tokens     BLOB,              -- unique token ids, rising, little-endian u16 or u32; NULL when never tokenised. Kept
                                  -- while the chunk lives: replacing it must subtract them from token_df (record.py)
    vector     BLOB,              -- little-endian f32; NULL once the vector file has it, or when there is none
    has_vector INTEGER NOT NULL,  -- 0: full-text only, there is nothing to wait for or the model is missing
    row        INTEGER,           -- row in the vector and token files; NULL while pending
    generation INTEGER NOT NULL,  -- that of its note when it was recorded
    UNIQUE (note, n)
) STRICT;

CREATE TABLE terms (            -- exact document frequencies: chunks that hold the term
    term TEXT PRIMARY KEY,
    df   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE token_df (         -- the same of token ids
    token INTEGER PRIMARY KEY,
    df    INTEGER NOT NULL
) STRICT;

CREATE TABLE gone (             -- tombstones of replaced and removed chunks until every index has applied them
    chunk      INTEGER PRIMARY KEY,
    path       TEXT NOT NULL,
    row        INTEGER,           -- its row in the vector and token files, now dead; NULL when it never got there
    generation INTEGER NOT NULL   -- of the change that removed it
) STRICT;
"""

# Lists walk the index of their sort key backwards and stop at the page's end; kind and expires_at behind the key let
# scope and the usual filters be judged without visiting the row.
INDEXES: Final = """
CREATE INDEX notes_content ON notes (content_hash);
CREATE INDEX notes_ref ON notes (ref, path, kind, expires_at);
CREATE INDEX notes_created ON notes (created_at, ref, path, kind, expires_at);
CREATE INDEX notes_updated ON notes (updated_at, ref, path, kind, expires_at);
CREATE INDEX notes_kind ON notes (kind, created_at);
CREATE INDEX notes_domain ON notes (domain, kind) WHERE domain IS NOT NULL;
CREATE INDEX notes_session ON notes (session, kind) WHERE session IS NOT NULL;
CREATE INDEX notes_url ON notes (url_key) WHERE url_key IS NOT NULL;
CREATE INDEX notes_site ON notes (site) WHERE site IS NOT NULL;
CREATE INDEX notes_importance ON notes (importance, kind);
CREATE INDEX notes_expiry ON notes (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX notes_pinned ON notes (pinned) WHERE pinned = 1;
CREATE INDEX notes_underived ON notes (note) WHERE derived = 0;
CREATE INDEX kinds_key ON kinds (status, memory_type, project, actor, source, agent, verification);
CREATE INDEX tags_note ON note_tags (note);
CREATE INDEX notes_path_key ON notes (path_key, path);
CREATE INDEX notes_name_key ON notes (name_key, path);
CREATE INDEX names_key ON note_names (key, note);
CREATE INDEX names_note ON note_names (note);
CREATE INDEX links_key ON note_links (key, note);
CREATE INDEX chunks_generation ON chunks (generation);
CREATE INDEX chunks_row ON chunks (row) WHERE row IS NOT NULL;
CREATE INDEX gone_generation ON gone (generation);
"""

# Besides these: `born`, a random text that tells this catalog from the one before it, and what the indexes keep there.
META_START: Final = {
    "generation": 0,  # last generation given out
    "token_bytes": 2,  # width of an id in chunks.tokens
    "chunk_count": 0,  # rows of `chunks`: N of the statistics
    "total_length": 0,  # sum of chunks.length: with N the average length
    "applied_text": 0,  # generation up to which Tantivy is complete
    "applied_vectors": 0,  # ... the vector and token files
    "applied_lancedb": 0,  # ... LanceDB
    "fingerprint": "",  # of analyser, chunker and model: another one means that all chunks are made anew
    "head": "",  # the git commit that the effective times were judged by; '' without a repository
    "dates": "",  # JSON: first and last commit of each path up to there (files.history_dates)
}

USAGE_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS {schema}usage (  -- in its own file, which is not derived from notes
        ref              TEXT PRIMARY KEY,      -- id, or the path of a note without one
        last_accessed_at TEXT NOT NULL,
        access_count     INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS {schema}usage_last ON usage (last_accessed_at, ref)",
)
