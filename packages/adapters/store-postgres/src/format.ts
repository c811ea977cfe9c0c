// Format: which shape the tables of a schema have, and how an older one becomes the present one.
// Owns running the steps, the number in the table `store`, and what is added to the ids of transactions.
// V1  All missing steps run in one transaction, under a lock that stores which are opened at once take in turn.
// V2  A newer format, and one from before the first release, is refused, and nothing is changed.
// V3  Positions only grow: where entries stand higher than transactions count, in a database that was restored from a
//     dump, opening raises what is added to a transaction's id.
// V4  Who finds everything in its present shape writes nothing, and needs no right to create anything.

import * as Effect from "effect/Effect"
import type { Database, PgFailure, Query } from "./database.ts"
import { DatabaseFormatNewer, DatabaseUnreleased } from "./errors.ts"
import { apply } from "./first/apply.ts"
import { documents, looks, policyOf, tenants } from "./first/documents.ts"
import { tables } from "./first/tables.ts"

// Migrations: the first format of the tables, and the steps from each format to the next. A released step never changes.
// G1  The format of a database is the number of steps that have run on it; a new step goes to the end of the list.

const first = [tables, tenants, apply, documents, looks].join("\n")

// A number is never given twice, so that what was read of a segment stays true of its number. They are packed already.
const segments = `
CREATE TABLE segments (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  assistant bigint NOT NULL,
  -- The number of the last entry that it has.
  up_to bigint NOT NULL,
  -- When what its entries say was deleted; null where it was not.
  deleted_at bigint,
  tenant text COLLATE "C" NOT NULL,
  codec text NOT NULL,
  -- The digests that its texts refer to.
  digests text NOT NULL,
  body bytea NOT NULL
);
ALTER TABLE segments ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX segments_assistant ON segments (assistant, up_to);
CREATE INDEX segments_deleted ON segments (assistant, up_to) WHERE deleted_at IS NOT NULL;
${policyOf("segments")}

-- Bytes of a text, wherever it is: what refers to a segment says how long it is there.
CREATE FUNCTION text_bytes(body text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(body) < 64 AND starts_with(body, '@')
    THEN coalesce(substring(body FROM '^@[0-9]+:[0-9]+:([0-9]+)$')::bigint, octet_length(body))
    ELSE octet_length(body) END
$$;
`

// Segments that lie apart from the database. What no segment refers to and may lie there is noted: before it is put, by who puts it, and
// when its segment goes, by the table itself, so that no way of removing a segment can forget it.
const segmentsApart = `
ALTER TABLE segments ADD COLUMN place_key text COLLATE "C", ADD COLUMN place_bytes bigint, ADD COLUMN place_digest text;
-- How the keys of this store begin.
ALTER TABLE store ADD COLUMN segment_prefix text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', '');
CREATE TABLE segment_keys (
  key text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  assistant bigint NOT NULL,
  -- Whether a transaction that refers to it may still come.
  is_left boolean NOT NULL,
  noted_at bigint NOT NULL
);
${policyOf("segment_keys")}

CREATE FUNCTION segment_comes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM segment_keys WHERE key = NEW.place_key;
  RETURN NULL;
END $$;
CREATE FUNCTION segment_goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO segment_keys (key, tenant, assistant, is_left, noted_at)
  VALUES (OLD.place_key, OLD.tenant, OLD.assistant, true, now_millis()) ON CONFLICT (key) DO UPDATE SET is_left = true;
  RETURN NULL;
END $$;
CREATE TRIGGER segment_comes AFTER INSERT ON segments FOR EACH ROW WHEN (NEW.place_key IS NOT NULL)
  EXECUTE FUNCTION segment_comes();
CREATE TRIGGER segment_goes AFTER DELETE ON segments FOR EACH ROW WHEN (OLD.place_key IS NOT NULL)
  EXECUTE FUNCTION segment_goes();
`

// Few texts refer to bytes: who removes bytes looks through these, and through no other.
const parts = `
CREATE INDEX envelopes_parts ON envelopes (tenant) WHERE strpos(body, '"digest":') > 0;
CREATE INDEX ledger_parts ON ledger (tenant) WHERE strpos(body, '"digest":') > 0;
CREATE INDEX segments_parts ON segments (tenant) WHERE digests <> '';
`

// The server notes texts for its plans, and keeps those of a table that has become empty for good. No plan needs what anyone said, so it is to
// note nothing of it. Giving a column its type again drops what it has noted; it writes no row anew.
const said: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  assistants: { note: "text" },
  states: { body: "text" },
  envelopes: { body: "text" },
  ledger: { body: "text" },
  sends: { body: "text" },
  records: { key: 'text COLLATE "C"', body: "text" },
  dead_letters: { body: "text" },
  prompts: { body: "text" },
  blobs: { bytes: "bytea" },
  blocks: { body: "text" },
  block_versions: { body: "text", patch: "bytea" },
  block_snapshots: { bytes: "bytea" },
  block_answers: { answer: "text" },
  segments: { body: "bytea" }
}

const unnoted = Object.entries(said)
  .flatMap(([table, columns]) =>
    Object.entries(columns).map(
      ([column, type]) => `ALTER TABLE ${table} ALTER ${column} TYPE ${type}, ALTER ${column} SET STATISTICS 0;`
    )
  )
  .concat(
    "ALTER TABLE blobs ALTER bytes SET STORAGE EXTERNAL;",
    "ALTER TABLE segments ALTER body SET STORAGE EXTERNAL;"
  )
  .join("\n")

// What an assistant sent is accepted while its send is open. A forgetting that takes the send back holds its row until it is over: who comes
// in between waits for that, and finds it gone. The row of the recipient is taken first, as everywhere.
const sent = `
ALTER FUNCTION accept_one(operation, text) RENAME TO accept_any;
CREATE FUNCTION accept_one(op operation, envelope text) RETURNS answered LANGUAGE plpgsql AS $$
BEGIN
  IF op.seq IS NOT NULL THEN
    PERFORM 1 FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
    PERFORM 1 FROM sends WHERE seq = op.seq FOR KEY SHARE;
    IF NOT FOUND THEN RETURN ROW(op.p, '{"is":"duplicate"}', NULL)::answered; END IF;
  END IF;
  RETURN accept_any(op, envelope);
END $$;
`

export const migrations: ReadonlyArray<string> = [first, segments, segmentsApart, parts, unnoted, sent]

/** A million assistants are reshaped in less. */
const MIGRATION_MILLIS = 3_600_000

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('reverie format ' || $1, 0))"

// Asks the catalog itself: a name that was not found a moment ago is remembered as missing within a transaction.
const IS_THERE = `
  SELECT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'released') AS released
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'store'`

export interface Place {
  /** The URL without its password. */
  readonly place: string
  readonly schema: string
}

/** 0 when the schema, or the table in it, is not there. */
const formatIn = (query: Query, { place, schema }: Place): Effect.Effect<number, PgFailure | DatabaseUnreleased> =>
  Effect.gen(function* () {
    const [found] = yield* query<{ readonly released: boolean }>(IS_THERE, [schema])
    if (found === undefined) return 0
    if (!found.released) return yield* new DatabaseUnreleased({ place, schema })
    const rows = yield* query<{ readonly format: number }>(`SELECT format FROM "${schema}".store`)
    return rows[0]?.format ?? 0
  })

/** Whether an entry stands higher than the present transaction would. */
const BEHIND = `
  SELECT coalesce((SELECT position FROM ledger ORDER BY position DESC LIMIT 1), 0)
    >= (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + raised) * 4096 AS behind FROM store`

const RAISE = `
  UPDATE store SET raised = (SELECT position FROM ledger ORDER BY position DESC LIMIT 1) / 4096 + 1
    - pg_current_xact_id()::text::bigint`

const isBehind = (query: Query): Effect.Effect<boolean, PgFailure> =>
  Effect.map(query<{ readonly behind: boolean }>(BEHIND), (rows) => rows[0]?.behind === true)

// One statement of the client is one command, unless the server takes the text apart.
const command = (step: string): string => `DO $run$ BEGIN EXECUTE $step$${step}$step$; END $run$`

const reshape = (query: Query, schema: string, found: number, steps: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* query(`SET LOCAL statement_timeout = ${MIGRATION_MILLIS}`)
    if (found === 0) yield* query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
    for (const step of steps.slice(found)) yield* query(command(step))
    const { length } = steps
    yield* query(found === 0 ? `INSERT INTO store (format) VALUES (${length})` : `UPDATE store SET format = ${length}`)
  })

/** Brings the tables of a schema to the present shape. */
export const migrate = (
  { query, transaction }: Database,
  { place, schema }: Place,
  steps: ReadonlyArray<string> = migrations
): Effect.Effect<void, PgFailure | DatabaseFormatNewer | DatabaseUnreleased> =>
  Effect.gen(function* () {
    const supported = steps.length
    const known = (found: number) =>
      found > supported
        ? Effect.fail(new DatabaseFormatNewer({ place, schema, found, supported }))
        : Effect.succeed(found)
    const found = yield* Effect.flatMap(formatIn(query, { place, schema }), known)
    if (found === supported && !(yield* isBehind(query))) return
    yield* transaction(MIGRATION_MILLIS, (inside) =>
      Effect.gen(function* () {
        yield* inside(LOCK, [schema])
        const now = yield* Effect.flatMap(formatIn(inside, { place, schema }), known)
        if (now < supported) yield* reshape(inside, schema, now, steps)
        if (yield* isBehind(inside)) yield* inside(RAISE)
      })
    )
  })
