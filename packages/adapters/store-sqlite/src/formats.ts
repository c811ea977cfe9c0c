// Formats: the tables of the first format, and the steps from each format to the next. A released step never changes.
// Owns the layout. Leaves the running of the steps to format.ts.
// I1  A page is small, because a commit writes whole pages: at 512 bytes a tick writes less than half of what it does at
//     2048, for the same time.
// I2  What changes with every commit is one row of `assistants`; its short columns come first and its `state` keeps its
//     length, so that the row is written over in place and only pages that differ are written.
// I3  `ledger` and `envelopes` only grow: no row of theirs is deleted, so `seq` has no gap and the last row knows the totals.
//     Only the text of a row moves: into a segment, in its place stands where.
// I4  Who rests is in no index but the one on addresses: a million sleepers cost no look-up anything.

export const PAGE_BYTES = 512

/** `wake` of an assistant with nothing to do. As long as a present time, in bytes, so that the row keeps its length. */
export const AT_REST = 2 ** 47 - 1

/** Every how many entries of an assistant one is in the index; the others are found along `previous`. */
export const LANDMARK_EVERY = 16

const first = `
CREATE TABLE assistants (
  key INTEGER PRIMARY KEY,
  wake INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  version INTEGER NOT NULL,
  control INTEGER NOT NULL,
  reply INTEGER NOT NULL,
  mail INTEGER NOT NULL,
  last INTEGER NOT NULL,
  receives INTEGER NOT NULL,
  retired INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  -- What a holder left for the next one, in case it does not end well; nearly always NULL.
  note TEXT
);
CREATE UNIQUE INDEX assistants_address ON assistants (tenant, id);
CREATE INDEX assistants_wake ON assistants (wake) WHERE wake < 140737488355327;

CREATE TABLE envelopes (
  seq INTEGER PRIMARY KEY,
  assistant INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  id TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX envelopes_id ON envelopes (assistant, id);
CREATE INDEX envelopes_lane ON envelopes (assistant, lane);

CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY,
  assistant INTEGER NOT NULL,
  no INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX ledger_landmark ON ledger (assistant, no) WHERE no % 16 = 0;

CREATE TABLE sends (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);
CREATE TABLE records (
  assistant INTEGER NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (assistant, kind, key)
) WITHOUT ROWID;
CREATE TABLE dead_letters (
  seq INTEGER PRIMARY KEY,
  assistant INTEGER NOT NULL,
  body TEXT NOT NULL,
  -- Dead letters that somebody discarded are numbered 1, 2, 3 ... in the order in which they were.
  discarded INTEGER
);
CREATE INDEX dead_letters_assistant ON dead_letters (assistant);
CREATE INDEX dead_letters_told ON dead_letters (seq) WHERE discarded IS NULL;
CREATE UNIQUE INDEX dead_letters_discarded ON dead_letters (discarded) WHERE discarded IS NOT NULL;

CREATE TABLE prompts (
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  restores INTEGER,
  body TEXT,
  PRIMARY KEY (tenant, kind, key, version DESC)
) WITHOUT ROWID;

-- What messages refer to: once for a tenant, under the digest of the bytes.
CREATE TABLE blobs (tenant TEXT NOT NULL, digest TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE UNIQUE INDEX blobs_digest ON blobs (tenant, digest);

-- Memory blocks: each as it is shown, what every version added, one snapshot, and what was answered under a key.
CREATE TABLE blocks (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  label TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE UNIQUE INDEX blocks_id ON blocks (tenant, id);
CREATE UNIQUE INDEX blocks_label ON blocks (tenant, owner, label);

CREATE TABLE block_readers (
  tenant TEXT NOT NULL,
  reader TEXT NOT NULL,
  block INTEGER NOT NULL,
  PRIMARY KEY (tenant, reader, block)
) WITHOUT ROWID;
CREATE INDEX block_readers_block ON block_readers (block);

CREATE TABLE block_versions (
  block INTEGER NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  patch BLOB NOT NULL,
  PRIMARY KEY (block, version)
) WITHOUT ROWID;
CREATE TABLE block_snapshots (block INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE block_answers (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

-- What tenants have spent in the present windows, and their calls under way.
CREATE TABLE allowance_accounts (tenant TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE allowance_calls (
  tenant TEXT NOT NULL,
  call TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, call)
) WITHOUT ROWID;

-- What model calls used, summed with each commit; what is read is mostly the last hours, of all or of one.
CREATE TABLE usage (
  hour INTEGER NOT NULL,
  assistant INTEGER NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  last_no INTEGER NOT NULL,
  PRIMARY KEY (hour, assistant, model, purpose)
) WITHOUT ROWID;
CREATE INDEX usage_assistant ON usage (assistant, hour);

-- Rows of 'records' are long, and a search among them reads whole rows to compare their keys.
CREATE INDEX records_entity ON records (assistant, key) WHERE kind = 'entity';
`

// A number is never given twice, so that what was read of a segment stays true of its number.
const segments = `
CREATE TABLE segments (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  assistant INTEGER NOT NULL,
  -- The number of the last entry that it has.
  up_to INTEGER NOT NULL,
  -- When what its entries say was deleted; NULL where it was not.
  deleted_at INTEGER,
  codec TEXT NOT NULL,
  -- The digests that its texts refer to.
  digests TEXT NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX segments_assistant ON segments (assistant, up_to);
CREATE INDEX segments_deleted ON segments (assistant, up_to) WHERE deleted_at IS NOT NULL;
`

// What all assistants of a tenant used, so that nothing of that is added up when it is asked for.
const usageTotals = `
CREATE TABLE usage_totals (
  hour INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  last_no INTEGER NOT NULL,
  PRIMARY KEY (hour, tenant, model, purpose)
) WITHOUT ROWID;
INSERT INTO usage_totals
  SELECT hour, tenant, model, purpose, sum(calls), sum(input_tokens), sum(cached_tokens), sum(output_tokens),
    sum(reasoning_tokens), sum(cost_micros), sum(unpriced_calls), max(last_no)
  FROM usage CROSS JOIN assistants ON key = assistant GROUP BY hour, tenant, model, purpose;
`

// Segments that lie apart from the store, in a directory or an object store.
const segmentsApart = `
ALTER TABLE segments ADD COLUMN place_key TEXT;
ALTER TABLE segments ADD COLUMN place_bytes INTEGER;
ALTER TABLE segments ADD COLUMN place_digest TEXT;
-- Keys that may lie there, and that no segment refers to: noted before they are put, and when a segment goes.
CREATE TABLE segment_keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
-- How the keys of this store begin.
CREATE TABLE segment_prefix (prefix TEXT NOT NULL);
INSERT INTO segment_prefix (prefix) VALUES (lower(hex(randomblob(8))));
`

export const formats: ReadonlyArray<string> = [first, segments, usageTotals, segmentsApart]
