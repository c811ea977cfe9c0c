// Tables: the shape of the file.
// Owns the tables and the number of their format. Leaves opening and emptying to connection.ts.
// T1  A file of another format is not brought up to date: what is in it is made anew from the ledger.

import type { DatabaseSync } from "node:sqlite"

/** "RVRC": tells an index of Reverie from any other database. */
export const APPLICATION_ID = 0x52565243

/** To be raised whenever the tables, their bytes, the weight classes, or the terms and weights of the text module change. */
export const FORMAT = 9

/**
 * groups: who may read: the owner of entries, an assistant that is named, a tenant's fleet; and owners whose entries are
 * being erased. Keys are never used twice. `position` and the `digest` of the ledger entry there count for owners; `entries`
 * is how many entries the group may read.
 * entries: `doc` is the number under which its words are kept, another one whenever it is reported anew. row.ts has the form
 * of its body, which in a sealed index may stand on a sheet with others; see sheets.ts.
 * tail, segments, leaves, bounds: the words of entries, group by group; see tail.ts and words.ts. They hold no text.
 * What of them is sealed where the store is, sealed-index.ts says.
 * unfinished: segments that are being made, or that are out of use and not dropped yet.
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
  doc INTEGER NOT NULL,
  body ANY,
  sheet INTEGER,
  UNIQUE (owner, id)
) STRICT;
CREATE TABLE sheets (key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, body ANY NOT NULL) STRICT;
CREATE TABLE counters (one INTEGER PRIMARY KEY CHECK (one = 1), doc INTEGER NOT NULL, segment INTEGER NOT NULL) STRICT;
INSERT INTO counters (one, doc, segment) VALUES (1, 0, 0);
CREATE TABLE tail (
  grp INTEGER NOT NULL,
  first INTEGER NOT NULL,
  docs INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (grp, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE segments (
  key INTEGER PRIMARY KEY,
  grp INTEGER NOT NULL,
  level INTEGER NOT NULL,
  docs INTEGER NOT NULL,
  dead INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  min_at REAL NOT NULL,
  max_at REAL NOT NULL,
  min_trust REAL NOT NULL,
  head BLOB NOT NULL
) STRICT;
CREATE INDEX segments_group ON segments (grp, first);
CREATE TABLE leaves (key INTEGER PRIMARY KEY, grp INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE bounds (segment INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE unfinished (segment INTEGER PRIMARY KEY) STRICT;
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
  owner INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, entry)
) STRICT, WITHOUT ROWID;
CREATE TABLE wanting (model INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (model, entry)) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FORMAT};
`

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

/** Raised by a thousand when only what is sealed takes another form. */
const SEALED = 2_000

/** A sealed index is of another format than one in the clear: each is made anew in the place of the other. */
export const formatOf = (isSealed: boolean): number => (isSealed ? FORMAT + SEALED : FORMAT)

/** What is in a file: nothing yet, the present tables, tables of another format, or something else. */
export const stateOf = (
  database: DatabaseSync,
  isSealed: boolean
): "empty" | "present" | "other-format" | "foreign" => {
  if (database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined) return "empty"
  if (numberOf(database, "application_id") !== APPLICATION_ID) return "foreign"
  return numberOf(database, "user_version") === formatOf(isSealed) ? "present" : "other-format"
}
