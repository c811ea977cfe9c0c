// Tables: the shape of the file.
// Owns its tables and the number of their format. Leaves opening to connection.ts.
// T1  A file of another format is not brought up to date: what is in it is made anew from the ledger.

/** "RVRC": tells an index of Reverie from any other database. */
export const APPLICATION_ID = 0x52565243

/** To be raised whenever the tables, the weight classes, or the terms and weights of the text module change. */
export const FORMAT = 2

/**
 * A segment of the full-text index is written anew when so much of it is gone. Most of it goes soon: a message is put again
 * whenever something was said after it.
 */
const PERCENT_GONE = 50

/**
 * groups: who may read: the owner of entries, an assistant that is named, a tenant's fleet. Keys are never used twice.
 * `position` and the `digest` of the ledger entry there count for owners; `entries` is how many entries the group may read.
 * words: for each entry its terms, as `postings.ts` writes them for every group that may read it. It holds no text.
 * shared: entries by the groups that may read them besides their owner.
 * wanting: entries that have no vector of a model yet.
 */
export const tables = `
CREATE TABLE groups (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  assistant TEXT NOT NULL,
  position INTEGER NOT NULL DEFAULT 0,
  digest TEXT NOT NULL DEFAULT '',
  entries INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, kind, assistant)
) STRICT;
CREATE TABLE entries (
  key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  id TEXT NOT NULL,
  entry TEXT NOT NULL,
  context TEXT,
  facts TEXT,
  UNIQUE (owner, id)
) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (
  terms, tokenize = 'ascii', content = '', contentless_delete = 1, detail = none
);
INSERT INTO words (words, rank) VALUES ('deletemerge', ${PERCENT_GONE});
CREATE TABLE shared (reader INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (reader, entry)) STRICT, WITHOUT ROWID;
CREATE TABLE models (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  state TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE vectors (
  model INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, entry)
) STRICT, WITHOUT ROWID;
CREATE TABLE wanting (model INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (model, entry)) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FORMAT};
`

/** Where terms are looked up. Of the connection, not of the file, so that a reader has it too. */
export const postingsTable = "CREATE VIRTUAL TABLE temp.postings USING fts5vocab (main, words, instance)"
