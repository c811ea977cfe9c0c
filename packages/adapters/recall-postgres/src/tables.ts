// Tables: what the index keeps in PostgreSQL, and the functions that write and search it there.
// Owns the columns, the indexes and every statement of more than a line. Leaves what a number in them stands for to searching.ts.
// T1  What was said stands in `owners`, `entries` and `vectors` only, which row-level security holds. `words` and `df`
//     have numbers alone: an index on them can be used, no matter who asks. No operator on arrays is leakproof, so under a policy
//     PostgreSQL would read every row instead.
// T2  One statement writes an apply: with the row of its owner in hand, where the index stands and what it was read as are
//     compared before anything changes.
// T3  `df` says how many entries have a number. Anyone who changes it takes its rows in their order, so that of two who
//     share some, one waits.
// T4  What the words of a question cost does not grow with the age of an assistant: the rarest bring up entries, up to a
//     bound; all of them count for what was brought up.
// T5  An entry under a policy is looked up by its key alone.

const tables = `
CREATE TABLE layout (one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL);

CREATE TABLE owners (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  assistant text COLLATE "C" NOT NULL,
  no bigint NOT NULL DEFAULT 0,
  digest text NOT NULL DEFAULT '',
  -- Counts what was applied: two who read the same rows do not both write them.
  version bigint NOT NULL DEFAULT 0,
  entries bigint NOT NULL DEFAULT 0,
  -- It is being erased: nothing of it is found any more.
  gone boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX owners_address ON owners (tenant, assistant) WHERE NOT gone;
CREATE INDEX owners_gone ON owners (key) WHERE gone;

-- Texts are JSON, which has neither NUL nor surrogates.
CREATE TABLE entries (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  entry text NOT NULL,
  context text,
  facts text
);
CREATE UNIQUE INDEX entries_id ON entries (owner, id);
-- The server notes texts for its plans, and keeps those of a table that has become empty for good: it is to note none of what anyone said.
ALTER TABLE entries ALTER id SET STATISTICS 0, ALTER entry SET STATISTICS 0, ALTER context SET STATISTICS 0,
  ALTER facts SET STATISTICS 0;

CREATE TABLE words (
  entry bigint PRIMARY KEY,
  owner bigint NOT NULL,
  kind smallint NOT NULL,
  at double precision NOT NULL,
  trust double precision NOT NULL,
  -- Who may read it.
  groups bigint[] NOT NULL,
  -- Its terms, once for each group, the group of its owner first; and what each weighs.
  keys bigint[] NOT NULL,
  weights smallint[] NOT NULL,
  conditions bigint[] NOT NULL
);
ALTER TABLE words ALTER keys SET STORAGE MAIN, ALTER weights SET STORAGE MAIN, ALTER conditions SET STORAGE MAIN;
CREATE INDEX words_keys ON words USING gin (keys, conditions) WITH (fastupdate = off);

CREATE TABLE df (key bigint PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 70);

CREATE TABLE models (
  key integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  dimensions integer NOT NULL,
  state text NOT NULL
);

-- A vector once for each group that may read it. The stamp is the transaction that wrote it.
CREATE TABLE vectors (
  model integer NOT NULL,
  entry bigint NOT NULL,
  grp bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  stamp bigint NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (model, entry, grp)
);
ALTER TABLE vectors ALTER vector SET STATISTICS 0;
CREATE INDEX vectors_group ON vectors (model, grp, stamp);
CREATE TABLE wanting (model integer NOT NULL, entry bigint NOT NULL, PRIMARY KEY (model, entry));
`

// As in the store: without the setting a connection sees all tenants, with it those that it names.
const here = "current_setting('app.tenants', true)"

const policyOf = (table: string): string => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants ON ${table} USING (coalesce(${here}, '') = '' OR tenant = ANY (string_to_array(${here}, ',')));`

/** Those who change entries hold it together, those who change models alone: no entry is missed by either. */
const MODELS_LOCK = "hashtextextended('reverie models ' || current_schema(), 0)"

const writing = `
CREATE TYPE standing AS (no double precision, digest text, version double precision, written boolean);

CREATE FUNCTION now_xid() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT pg_current_xact_id()::text::bigint $$;

-- Adds to the numbers of some keys, and takes others off.
CREATE FUNCTION count_keys(more bigint[], fewer bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO df AS kept (key, n)
    SELECT k, sum(d) FROM (SELECT unnest(more) AS k, 1 AS d UNION ALL SELECT unnest(fewer), -1) AS each
    GROUP BY k HAVING sum(d) <> 0 ORDER BY k
    ON CONFLICT (key) DO UPDATE SET n = kept.n + excluded.n;
  IF cardinality(fewer) > 0 THEN DELETE FROM df WHERE key = ANY (fewer) AND n <= 0; END IF;
END $$;

CREATE FUNCTION all_keys(chosen bigint[]) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(k), '{}') FROM words, unnest(keys || groups) AS k WHERE entry = ANY (chosen)
$$;

CREATE FUNCTION drop_entries(chosen bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM vectors USING models WHERE vectors.model = models.key AND entry = ANY (chosen);
  DELETE FROM wanting USING models WHERE wanting.model = models.key AND entry = ANY (chosen);
  DELETE FROM words WHERE entry = ANY (chosen);
  DELETE FROM entries WHERE key = ANY (chosen);
END $$;

-- Numbers of all entries stand in a row; where those of each end is said beside them.
CREATE FUNCTION apply(whose text, who text, from_no bigint, from_digest text, read_version bigint, to_no bigint, to_digest text,
  removed text[], ids text[], bodies text[], contexts text[], facts text[], kinds smallint[], ats double precision[],
  trusts double precision[], moved boolean[], all_groups bigint[], group_ends integer[], keys_in bigint[],
  key_ends integer[], weights_in smallint[], conditions_in bigint[], condition_ends integer[])
RETURNS standing LANGUAGE plpgsql AS $$
DECLARE
  o owners%ROWTYPE;
  touched bigint[];
  before bigint[];
  gone bigint[];
  placed bigint[];
  was_there boolean[];
  mine bigint[];
  fewer bigint[];
  m models%ROWTYPE;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${MODELS_LOCK});
  SELECT * INTO o FROM owners WHERE tenant = whose AND assistant = who AND NOT owners.gone FOR UPDATE;
  IF NOT FOUND AND from_no = 0 AND from_digest = '' THEN
    INSERT INTO owners (tenant, assistant) VALUES (whose, who) ON CONFLICT DO NOTHING;
    SELECT * INTO o FROM owners WHERE tenant = whose AND assistant = who AND NOT owners.gone FOR UPDATE;
  END IF;
  IF o.key IS NULL THEN RETURN ROW(0, '', 0, false)::standing; END IF;
  IF o.no <> from_no OR o.digest <> from_digest OR o.version <> read_version THEN
    RETURN ROW(o.no, o.digest, o.version, false)::standing;
  END IF;
  SELECT coalesce(array_agg(e.key), '{}') INTO touched FROM entries e WHERE e.owner = o.key AND e.id = ANY (removed || ids);
  SELECT coalesce(array_agg(e.key), '{}') INTO gone FROM entries e WHERE e.owner = o.key AND e.id = ANY (removed);
  fewer := all_keys(touched);
  PERFORM drop_entries(gone);
  IF cardinality(ids) > 0 THEN
    WITH put AS (
      INSERT INTO entries AS kept (owner, tenant, id, entry, context, facts)
        SELECT o.key, whose, p.id, p.body, p.context, p.fact
        FROM unnest(ids, bodies, contexts, facts) AS p (id, body, context, fact)
        ON CONFLICT (owner, id) DO UPDATE SET entry = excluded.entry, context = excluded.context, facts = excluded.facts
        RETURNING kept.key, kept.id)
      SELECT array_agg(put.key ORDER BY i.place) INTO placed
      FROM put JOIN unnest(ids) WITH ORDINALITY AS i (id, place) ON i.id = put.id;
    FOR i IN 1 .. cardinality(ids) LOOP
      mine := all_groups[1 + coalesce(group_ends[i - 1], 0) : group_ends[i]];
      before := NULL;
      IF placed[i] = ANY (touched) THEN SELECT w.groups INTO before FROM words w WHERE w.entry = placed[i]; END IF;
      INSERT INTO words AS kept (entry, owner, kind, at, trust, groups, keys, weights, conditions)
        VALUES (placed[i], o.key, kinds[i], ats[i], trusts[i], mine,
          keys_in[1 + coalesce(key_ends[i - 1], 0) : key_ends[i]],
          weights_in[1 + coalesce(key_ends[i - 1], 0) : key_ends[i]],
          conditions_in[1 + coalesce(condition_ends[i - 1], 0) : condition_ends[i]])
        ON CONFLICT (entry) DO UPDATE SET kind = excluded.kind, at = excluded.at, trust = excluded.trust,
          groups = excluded.groups, keys = excluded.keys, weights = excluded.weights, conditions = excluded.conditions;
      FOR m IN SELECT * FROM models LOOP
        IF before IS NULL OR moved[i] THEN
          DELETE FROM vectors WHERE model = m.key AND entry = placed[i];
          INSERT INTO wanting (model, entry) VALUES (m.key, placed[i]) ON CONFLICT DO NOTHING;
        ELSIF before <> mine THEN
          INSERT INTO vectors (model, entry, grp, tenant, stamp, vector)
            SELECT m.key, placed[i], g, whose, now_xid(), v.vector FROM unnest(mine) AS g,
              (SELECT vector FROM vectors WHERE model = m.key AND entry = placed[i] LIMIT 1) AS v
            ON CONFLICT DO NOTHING;
          DELETE FROM vectors WHERE model = m.key AND entry = placed[i] AND grp <> ALL (mine);
        END IF;
      END LOOP;
    END LOOP;
  END IF;
  PERFORM count_keys(keys_in || all_groups, fewer);
  UPDATE owners SET no = to_no, digest = to_digest, version = o.version + 1,
    entries = o.entries + cardinality(ids) - cardinality(touched) WHERE key = o.key;
  RETURN ROW(to_no, to_digest, o.version + 1, true)::standing;
END $$;

-- From now on nothing of it is found. This is on the disk before it is answered: the ledger would not tell it again.
CREATE FUNCTION erase(whose text, who text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  UPDATE owners SET gone = true WHERE tenant = whose AND assistant = who AND NOT gone;
END $$;

-- A piece of what is being erased; false when nothing is left to erase.
CREATE FUNCTION erase_some(most integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  which bigint;
  chosen bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${MODELS_LOCK});
  SELECT key INTO which FROM owners WHERE gone ORDER BY key LIMIT 1 FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT array_agg(e.key) INTO chosen FROM (SELECT key FROM entries WHERE owner = which LIMIT most) AS e;
  IF chosen IS NULL THEN
    DELETE FROM owners WHERE key = which;
  ELSE
    PERFORM count_keys('{}', all_keys(chosen));
    PERFORM drop_entries(chosen);
  END IF;
  RETURN true;
END $$;
`

const vectors = `
CREATE FUNCTION prepare_model(named text, size integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  made integer;
  is_first boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(${MODELS_LOCK});
  IF EXISTS (SELECT 1 FROM models WHERE id = named AND dimensions = size) THEN RETURN; END IF;
  PERFORM drop_models('next');
  is_first := NOT EXISTS (SELECT 1 FROM models);
  INSERT INTO models (id, dimensions, state) VALUES (named, size, CASE WHEN is_first THEN 'current' ELSE 'next' END)
    RETURNING key INTO made;
  INSERT INTO wanting (model, entry) SELECT made, entry FROM words;
END $$;

CREATE FUNCTION drop_models(which text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM vectors USING models m WHERE vectors.model = m.key AND m.state = which;
  DELETE FROM wanting USING models m WHERE wanting.model = m.key AND m.state = which;
  DELETE FROM models WHERE state = which;
END $$;

-- False when there is no such model.
CREATE FUNCTION promote_model(named text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  found models%ROWTYPE;
BEGIN
  PERFORM pg_advisory_xact_lock(${MODELS_LOCK});
  SELECT * INTO found FROM models WHERE id = named;
  IF found.key IS NULL THEN RETURN false; END IF;
  IF found.state = 'next' THEN
    PERFORM drop_models('current');
    UPDATE models SET state = 'current' WHERE key = found.key;
  END IF;
  RETURN true;
END $$;

-- Answers the dimensions of the model, 0 when there is none; where they are not as given nothing is kept.
CREATE FUNCTION put_vectors(named text, size integer, tenants text[], assistants text[], ids text[], given bytea[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  m models%ROWTYPE;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${MODELS_LOCK});
  SELECT * INTO m FROM models WHERE id = named;
  IF m.key IS NULL THEN RETURN 0; END IF;
  IF m.dimensions <> size THEN RETURN m.dimensions; END IF;
  WITH placed AS (
    SELECT e.key AS entry, e.tenant, w.groups, v.given FROM unnest(tenants, assistants, ids, given) AS v (tenant, assistant, id, given)
      JOIN owners o ON o.tenant = v.tenant AND o.assistant = v.assistant AND NOT o.gone
      JOIN entries e ON e.owner = o.key AND e.id = v.id
      JOIN words w ON w.entry = e.key
  ), wanted AS (DELETE FROM wanting USING placed WHERE wanting.model = m.key AND wanting.entry = placed.entry)
  INSERT INTO vectors AS kept (model, entry, grp, tenant, stamp, vector)
    SELECT m.key, entry, g, tenant, now_xid(), placed.given FROM placed, unnest(groups) AS g ORDER BY entry, g
    ON CONFLICT (model, entry, grp) DO UPDATE SET stamp = excluded.stamp, vector = excluded.vector;
  RETURN size;
END $$;
`

const loading = `
CREATE TYPE loaded AS (grp double precision, entry double precision, vector bytea);

-- The vectors of groups that were written since; all of them when another model is current than was. Before them, under
-- numbers that no group has: the model, up to which transaction that is all, and when the server started.
CREATE FUNCTION load_vectors(size integer, seen_model integer, seen bigint[], since bigint[], most integer)
RETURNS SETOF loaded LANGUAGE plpgsql STABLE AS $$
DECLARE
  m models%ROWTYPE;
BEGIN
  SELECT * INTO m FROM models WHERE state = 'current' AND dimensions = size;
  IF m.key IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT * FROM (VALUES
    (-1::double precision, m.key::double precision, NULL::bytea),
    (-2, pg_snapshot_xmin(pg_current_snapshot())::text::double precision, NULL),
    (-3, extract(epoch FROM pg_postmaster_start_time())::double precision, NULL)) AS header;
  RETURN QUERY
    SELECT g.grp::double precision, v.entry::double precision, v.vector FROM unnest(seen, since) AS g (grp, since)
      CROSS JOIN LATERAL (
        SELECT each.entry, each.vector FROM vectors each
        WHERE each.model = m.key AND each.grp = g.grp AND each.stamp >= CASE WHEN m.key = seen_model THEN g.since ELSE 0 END
        ORDER BY each.stamp DESC LIMIT most
      ) AS v;
END $$;
`

/** The conditions of a question on a row of `words`. */
export const fitting = `
  w.at >= since AND w.at <= latest[w.kind + 1] AND w.trust >= least_trust
  AND (entities IS NULL OR w.conditions && entities) AND (tags IS NULL OR w.conditions && tags)
  AND (threads IS NULL OR w.conditions && threads)`

export const conditions = `since double precision, latest double precision[], least_trust double precision, entities bigint[],
  tags bigint[], threads bigint[]`

const searching = `
CREATE TYPE found AS (entry double precision, tenant text, assistant text, body text, facts text, score double precision, vector bytea);

-- The entries that the terms of a question find. Keys stand group by group, the group of the viewer first.
CREATE FUNCTION find_words(whose text, who text, seen bigint[], terms bigint[], reading integer, most integer, model_key integer,
  ${conditions}) RETURNS SETOF found LANGUAGE plpgsql STABLE AS $$
DECLARE
  total double precision;
  self bigint;
  size integer := cardinality(terms) / cardinality(seen);
  counting bigint[];
  rarities double precision[];
  are_own boolean[];
  bringing bigint[];
  work double precision;
  oldest bigint := 0;
BEGIN
  SELECT sum(n) INTO total FROM df WHERE key = ANY (seen);
  IF total IS NULL OR size = 0 THEN RETURN; END IF;
  SELECT key INTO self FROM owners WHERE tenant = whose AND assistant = who AND NOT gone;
  WITH asked AS (
    SELECT t.key, (t.place - 1) % size AS term, t.place <= size AS is_own, df.n
    FROM unnest(terms) WITH ORDINALITY AS t (key, place) JOIN df ON df.key = t.key
  ), having_them AS (
    SELECT term, sum(n)::double precision AS n FROM asked GROUP BY term
  ), placed AS (
    SELECT term, ln((total - least(n, total) + 0.5) / (least(n, total) + 0.5) + 1) AS rarity,
      sum(n) OVER (ORDER BY n, term) AS work, row_number() OVER (ORDER BY n, term) AS place FROM having_them
  )
  SELECT array_agg(key), array_agg(rarity), array_agg(is_own),
      array_agg(key) FILTER (WHERE placed.work <= reading OR placed.place = 1), max(placed.work) FILTER (WHERE placed.place = 1)
    INTO counting, rarities, are_own, bringing, work FROM asked JOIN placed USING (term);
  IF bringing IS NULL THEN RETURN; END IF;
  -- A word that nearly everything has brings up the newest.
  IF work > reading THEN
    SELECT min(entry) INTO oldest FROM (
      SELECT w.entry FROM words w WHERE w.keys && bringing AND ${fitting} ORDER BY w.entry + 0 DESC LIMIT reading) AS newest;
  END IF;
  RETURN QUERY
    SELECT e.key::double precision, o.tenant, o.assistant, e.entry, e.facts, best.score,
      (SELECT v.vector FROM vectors v WHERE v.model = model_key AND v.entry = e.key LIMIT 1)
    FROM (
      -- No index has the numbers of entries in this order: adding nothing keeps the planner from one that seems to.
      SELECT w.entry, (
          SELECT coalesce(sum(q.rarity * w.weights[array_position(w.keys, q.key)]), 0) / $scale$
          FROM unnest(counting, rarities, are_own) AS q (key, rarity, is_own)
          WHERE q.is_own = (w.owner IS NOT DISTINCT FROM self)
        ) AS score
      FROM words w WHERE w.keys && bringing AND w.entry + 0 >= oldest AND ${fitting}
      ORDER BY score DESC, w.entry + 0 DESC LIMIT most
    ) AS best JOIN entries e ON e.key = best.entry JOIN owners o ON o.key = e.owner AND NOT o.gone
    ORDER BY best.score DESC, e.key DESC;
END $$;

-- Of some entries, in their order, the first that fulfil the conditions.
CREATE FUNCTION find_keys(chosen bigint[], most integer, ${conditions}) RETURNS SETOF found LANGUAGE sql STABLE AS $$
  SELECT e.key::double precision, o.tenant, o.assistant, e.entry, e.facts, NULL::double precision, NULL::bytea
  FROM unnest(chosen) WITH ORDINALITY AS s (entry, place) JOIN words w ON w.entry = s.entry
    JOIN entries e ON e.key = s.entry JOIN owners o ON o.key = e.owner AND NOT o.gone
  WHERE ${fitting} ORDER BY s.place LIMIT most
$$;
`

/** What a weight of 1 is in the tables. */
export const WEIGHT_SCALE = 4_096

/** Everything, for an empty schema. A change of it is another format. */
export const FORMAT = 2

export const layout = [
  tables,
  ...["owners", "entries", "vectors"].map(policyOf),
  writing,
  vectors,
  loading,
  searching.replaceAll("$scale$", String(WEIGHT_SCALE))
].join("\n")
