// Documents: the statements that write prompts and memory blocks.
// Owns what is judged beside the rows: the expected versions of prompts, and that blocks are still as they were read.
// D1  Each is one statement and one transaction. Writers of one tenant's prompts, or of its blocks, take turns.

const prompts = `
-- The first line that is not at the version it expects, or nothing, and then all are written.
CREATE FUNCTION append_prompts(whose text, given_at bigint, lines jsonb, bodies text[])
RETURNS TABLE (place bigint, current bigint) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('reverie prompts ' || whose, 0));
  RETURN QUERY
    SELECT l.n, coalesce(newest.version, 0)
    FROM jsonb_array_elements(lines) WITH ORDINALITY AS l (line, n)
    LEFT JOIN LATERAL (
      SELECT p.version FROM prompts p
      WHERE p.tenant = whose AND p.kind = l.line ->> 0 AND p.key = l.line ->> 1
      ORDER BY p.version DESC LIMIT 1
    ) newest ON true
    WHERE coalesce(newest.version, 0) <> (l.line ->> 2)::bigint
    ORDER BY l.n LIMIT 1;
  IF FOUND THEN RETURN; END IF;
  INSERT INTO prompts (tenant, kind, key, version, at, restores, body)
    SELECT whose, l.line ->> 0, l.line ->> 1, (l.line ->> 2)::bigint + 1, coalesce(given_at, now_millis()),
      (l.line ->> 3)::bigint, bodies[l.n]
    FROM jsonb_array_elements(lines) WITH ORDINALITY AS l (line, n);
END $$;
`

const blocks = `
-- What was looked at and found, each told again as it stands now: nothing, or else something has changed since.
CREATE FUNCTION block_answer(whose text, name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT answer FROM block_answers WHERE tenant = whose AND key = name
$$;
CREATE FUNCTION block_body(whose text, name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT body FROM blocks WHERE tenant = whose AND id = name
$$;
CREATE FUNCTION block_key(whose text, name text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT key FROM blocks WHERE tenant = whose AND id = name
$$;

CREATE FUNCTION put_block(whose text, w jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  which bigint;
  names text[] := ARRAY(SELECT jsonb_array_elements_text(w -> 'readers'));
BEGIN
  INSERT INTO blocks (tenant, id, owner, label, body)
    VALUES (whose, w ->> 'id', w ->> 'owner', w ->> 'label', w ->> 'body')
    ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body
    RETURNING key INTO which;
  DELETE FROM block_readers WHERE block = which AND reader <> ALL (names);
  INSERT INTO block_readers (tenant, reader, block) SELECT whose, name, which FROM unnest(names) AS name
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION remove_block(whose text, name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  which bigint := block_key(whose, name);
BEGIN
  DELETE FROM block_versions WHERE block = which;
  DELETE FROM block_snapshots WHERE block = which;
  DELETE FROM block_readers WHERE block = which;
  DELETE FROM blocks WHERE key = which;
END $$;

-- Writes, if everything that was looked at is still the same; answers whether it was.
CREATE FUNCTION write_blocks(whose text, looks jsonb, writes jsonb, bytes bytea[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l jsonb;
  w jsonb;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('reverie blocks ' || whose, 0));
  FOR l IN SELECT value FROM jsonb_array_elements(looks) LOOP
    CASE l ->> 'at'
      WHEN 'answer' THEN
        IF block_answer(whose, l ->> 'id') IS DISTINCT FROM l ->> 'found' THEN RETURN false; END IF;
      WHEN 'block' THEN
        IF block_body(whose, l ->> 'id') IS DISTINCT FROM l ->> 'found' THEN RETURN false; END IF;
      WHEN 'label' THEN
        IF EXISTS (SELECT 1 FROM blocks WHERE tenant = whose AND owner = l ->> 'owner' AND label = l ->> 'label')
          <> (l ->> 'found')::boolean THEN RETURN false; END IF;
    END CASE;
  END LOOP;
  FOR w IN SELECT value FROM jsonb_array_elements(writes) LOOP
    CASE w ->> 'put'
      WHEN 'answer' THEN
        INSERT INTO block_answers (tenant, key, answer) VALUES (whose, w ->> 'id', w ->> 'answer');
      WHEN 'block' THEN PERFORM put_block(whose, w);
      WHEN 'version' THEN
        INSERT INTO block_versions (block, version, tenant, body, patch)
          VALUES (block_key(whose, w ->> 'id'), (w ->> 'version')::bigint, whose, w ->> 'body', bytes[(w ->> 'b')::integer]);
      WHEN 'snapshot' THEN
        INSERT INTO block_snapshots (block, tenant, bytes)
          VALUES (block_key(whose, w ->> 'id'), whose, bytes[(w ->> 'b')::integer])
          ON CONFLICT (block) DO UPDATE SET bytes = excluded.bytes;
      WHEN 'nothing' THEN PERFORM remove_block(whose, w ->> 'id');
    END CASE;
  END LOOP;
  RETURN true;
END $$;
`

export const documents = `${prompts}${blocks}`

// Looks: what is looked up row by row, because no plan of one statement would stop in time.
// L1  A look at what comes next ends at the first who is free: it costs what is held before him, never what sleeps.

export const looks = `
CREATE FUNCTION next_due(given bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  now bigint := coalesce(given, now_millis());
  one record;
  found bigint;
BEGIN
  FOR one IN
    SELECT wake_time(w.wake) AS since, (SELECT a.lease_until FROM assistants a WHERE a.key = w.assistant) AS held
    FROM wakes w ORDER BY w.wake
  LOOP
    -- All behind him come later.
    IF one.held <= now THEN RETURN least(found, one.since); END IF;
    found := least(found, greatest(one.since, one.held));
  END LOOP;
  RETURN found;
END $$;

-- The one look that reads everything, and so goes through the tables as they lie.
CREATE FUNCTION totals() RETURNS TABLE (accepted float8, settled float8, dead float8, discarded float8) LANGUAGE sql STABLE
SET enable_seqscan = on SET max_parallel_workers_per_gather = 2 AS $$
  SELECT coalesce(sum(a.last_control + a.last_reply + a.last_mail), 0)::float8, coalesce(sum(a.settled), 0)::float8,
    (SELECT count(*) FROM dead_letters)::float8, (SELECT count(*) FROM dead_letters d WHERE d.discarded)::float8
  FROM assistants a
$$;
`

// Tenants: which rows a connection sees and writes.
// R1  A connection whose setting `app.tenants` names tenants, separated by commas, sees, changes and adds rows of these
//     only, in every table, whatever statement it runs; without the setting it is one of the fleet's own and sees all.
// R2  The owner of the tables is held to it too (FORCE). Superusers and roles with BYPASSRLS are not: a store that is
//     opened for some tenants refuses them.

const restricted = [
  "assistants",
  "states",
  "wakes",
  "envelopes",
  "ledger",
  "sends",
  "records",
  "dead_letters",
  "usage",
  "prompts",
  "blobs",
  "blocks",
  "block_readers",
  "block_versions",
  "block_snapshots",
  "block_answers",
  "allowance_accounts",
  "allowance_calls"
]

// Evaluated for each row, which is cheaper than once a statement where a statement finds one row.
const here = "current_setting('app.tenants', true)"

export const policyOf = (table: string): string => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants ON ${table} USING (coalesce(${here}, '') = '' OR tenant = ANY (string_to_array(${here}, ',')));`

export const tenants = restricted.map(policyOf).join("\n")
