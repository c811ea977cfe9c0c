// Tables: where everything of a fleet stands.
// Owns the columns and the indexes. Leaves who may see a row to tenants, and changing them to apply.
// T1  What changes with every visit is one short row of `assistants`, none of whose changing columns is in an index: a
//     claim, a renewal, a release and a commit are updates in place (HOT). States stand apart and are written by commits.
// T2  Who rests is in no index but the ones on keys and addresses: `wakes` has a row only for who has, or will have,
//     something to do.
// T3  `seq` counts the envelopes of one lane of one assistant from 1 without gap, in the order of their commits, because
//     anyone who writes it holds the assistant's row. So cursors count too, and what waits is a difference.
// T4  Text that may hold anything (bodies, ids from outside, labels) is JSON text, which has neither NUL nor surrogates.

export const tables = `
CREATE TABLE store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  format integer NOT NULL,
  -- Tells it from data of the time before the first release.
  released boolean NOT NULL DEFAULT true,
  -- What is added to a transaction's id to make positions; see apply.
  raised bigint NOT NULL DEFAULT 0
);

CREATE TABLE assistants (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wake bigint NOT NULL,
  lease_until bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  settled bigint NOT NULL DEFAULT 0,
  control bigint NOT NULL DEFAULT 0,
  reply bigint NOT NULL DEFAULT 0,
  mail bigint NOT NULL DEFAULT 0,
  last_control bigint NOT NULL DEFAULT 0,
  last_reply bigint NOT NULL DEFAULT 0,
  last_mail bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  receives smallint NOT NULL,
  retired boolean NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  worker text NOT NULL DEFAULT '',
  -- What a holder left for the next one, in case it does not end well; nearly always null.
  note text
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX assistants_address ON assistants (tenant, id);

CREATE TABLE states (
  assistant bigint PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 60);

CREATE TABLE wakes (
  assistant bigint PRIMARY KEY,
  wake bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL
);
CREATE INDEX wakes_wake ON wakes (wake);
CREATE INDEX wakes_tenant ON wakes (tenant, wake, assistant);

CREATE TABLE envelopes (
  assistant bigint NOT NULL,
  lane smallint NOT NULL,
  seq bigint NOT NULL,
  accepted_at bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (assistant, lane, seq)
);
CREATE UNIQUE INDEX envelopes_id ON envelopes (assistant, id);

CREATE TABLE ledger (
  position bigint NOT NULL,
  assistant bigint NOT NULL,
  no bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (assistant, no)
);
CREATE UNIQUE INDEX ledger_position ON ledger (position);

CREATE TABLE sends (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL
);

CREATE TABLE records (
  assistant bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (assistant, kind, key)
);

CREATE TABLE dead_letters (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  assistant bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL,
  discarded boolean NOT NULL DEFAULT false
);
CREATE INDEX dead_letters_assistant ON dead_letters (assistant);
CREATE INDEX dead_letters_told ON dead_letters (seq) WHERE NOT discarded;

CREATE TABLE prompts (
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  at bigint NOT NULL,
  restores bigint,
  body text,
  PRIMARY KEY (tenant, kind, key, version)
);

-- What messages refer to: once for a tenant, under the digest of the bytes. Images and the like are packed already.
CREATE TABLE blobs (
  tenant text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, digest)
);
ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE blocks (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  body text NOT NULL
);
CREATE UNIQUE INDEX blocks_id ON blocks (tenant, id);
CREATE UNIQUE INDEX blocks_label ON blocks (tenant, owner, label);

CREATE TABLE block_readers (
  tenant text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  block bigint NOT NULL,
  PRIMARY KEY (tenant, reader, block)
);
CREATE INDEX block_readers_block ON block_readers (block);

CREATE TABLE block_versions (
  block bigint NOT NULL,
  version bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  body text NOT NULL,
  patch bytea NOT NULL,
  PRIMARY KEY (block, version)
);

CREATE TABLE block_snapshots (
  block bigint PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL
);

CREATE TABLE block_answers (
  tenant text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  answer text NOT NULL,
  PRIMARY KEY (tenant, key)
);

-- What model calls used, summed with each commit.
CREATE TABLE usage (
  assistant bigint NOT NULL,
  hour bigint NOT NULL,
  model text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_micros bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  last_no bigint NOT NULL,
  PRIMARY KEY (assistant, hour, model, purpose)
) WITH (fillfactor = 60);
CREATE INDEX usage_tenant ON usage (tenant, hour);

-- What tenants have spent in the present windows, and their model calls under way.
CREATE TABLE allowance_accounts (tenant text PRIMARY KEY, body text NOT NULL);
CREATE TABLE allowance_calls (
  tenant text NOT NULL,
  call text NOT NULL,
  lease_until bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, call)
);
`
