// Nearest: the entries nearest to a vector, found in the database where it has the extension pgvector.
// Owns the column, the trigger and the function that this takes, and deciding whether they are there. Leaves the tables to
// tables.ts, and comparing in the process to matrices.ts.
// N1  It is decided at each opening of the schema. An extension that may not be made is no error: vectors are compared in
//     the process then, as they are while older ones have no place in the column yet.
// N2  The column says what `vector` says, in a form that the server compares: the same whole numbers. A trigger writes it,
//     so no statement of tables.ts knows of it, and neither does an older Reverie at work on the same tables.
// N3  The trigger goes with the column, and the column with the extension: what is left works as it did without.
// N4  Every vector of the groups is compared: one that is far off is no worse kept than one that is near, or old.

import * as Effect from "effect/Effect"
import { type Ask, command, text, type Transaction } from "./statements.ts"
import { conditions, fitting } from "./tables.ts"

/** What the column, the trigger and the function are; a change of them takes another number. */
const EDITION = 1

/** More numbers than that the type does not hold. */
export const MOST_DIMENSIONS = 16_000

/** How far a vector is from the one that is asked for: 0 to 2. What has no direction is at a right angle to all. */
const away = (place: string): string => `coalesce(nullif(each.half OPERATOR(${place}.<=>) asked, 'NaN'), 1)`

/** Where a type or operator of the extension stands is said each time: the schema of the index is the only one searched. */
const near = (place: string): string => `
ALTER TABLE vectors ADD COLUMN IF NOT EXISTS half ${place}.halfvec;
-- As of the other columns: no number of anyone's is noted for plans. A row stays whole where a page holds it.
ALTER TABLE vectors ALTER half SET STATISTICS 0, SET (toast_tuple_target = 8160);
CREATE INDEX IF NOT EXISTS vectors_unfilled ON vectors (entry) WHERE half IS NULL;

-- As who made it: others need no right on the extension to write.
CREATE OR REPLACE FUNCTION halve() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.half := CASE WHEN octet_length(NEW.vector) BETWEEN 1 AND ${MOST_DIMENSIONS}
    THEN ARRAY(SELECT (get_byte(NEW.vector, i) + 128) % 256 - 128 FROM generate_series(0, octet_length(NEW.vector) - 1) AS i)
    ELSE '{0}' END::integer[]::${place}.halfvec;
  RETURN NEW;
END $$;
DROP TRIGGER IF EXISTS halves ON vectors;
CREATE TRIGGER halves BEFORE INSERT OR UPDATE OF vector, half ON vectors FOR EACH ROW EXECUTE FUNCTION halve();

-- The nearest entries that fulfil the conditions, as many as are asked for; before them, without an owner, the model. The
-- conditions are looked at of the nearest first, and of all only where these are too few: most fulfil most.
CREATE OR REPLACE FUNCTION near_entries(seen bigint[], meant double precision[], most integer, spare integer, ${conditions})
RETURNS SETOF found LANGUAGE plpgsql STABLE AS $$
DECLARE
  m models%ROWTYPE;
  asked ${place}.halfvec := meant::${place}.halfvec;
  chosen bigint[];
  is_more boolean;
BEGIN
  SELECT * INTO m FROM models WHERE state = 'current' AND dimensions = cardinality(meant);
  IF m.key IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT m.key::double precision, NULL::text, NULL::text, NULL::text, NULL::text, NULL::double precision, NULL::bytea;
  -- Who reads an entry in two groups sees it twice.
  SELECT array_agg(b.entry ORDER BY b.away, b.entry DESC), bool_or(b.is_full) INTO chosen, is_more FROM (
    SELECT a.entry, min(a.away) AS away, bool_or(a.n >= most + spare) AS is_full FROM (
      SELECT v.entry, v.away, count(*) OVER (PARTITION BY g.grp) AS n FROM unnest(seen) AS g (grp) CROSS JOIN LATERAL (
        SELECT each.entry, ${away(place)} AS away FROM vectors each
        WHERE each.model = m.key AND each.grp = g.grp ORDER BY away, each.entry DESC LIMIT most + spare
      ) AS v) AS a GROUP BY a.entry) AS b;
  chosen := ARRAY(SELECT f.entry::bigint
    FROM find_keys(chosen, most, since, latest, least_trust, entities, tags, threads) AS f);
  IF is_more AND cardinality(chosen) < most THEN
    SELECT array_agg(b.entry ORDER BY b.away, b.entry DESC) INTO chosen FROM (
      SELECT v.entry, min(v.away) AS away FROM unnest(seen) AS g (grp) CROSS JOIN LATERAL (
        SELECT each.entry, ${away(place)} AS away FROM vectors each
          JOIN words w ON w.entry = each.entry JOIN owners o ON o.key = w.owner AND NOT o.gone
        WHERE each.model = m.key AND each.grp = g.grp AND ${fitting}
        ORDER BY away, each.entry DESC LIMIT most
      ) AS v GROUP BY v.entry) AS b;
  END IF;
  RETURN QUERY SELECT f.entry, f.tenant, f.assistant, f.body, f.facts, NULL::double precision,
      (SELECT v.vector FROM vectors v WHERE v.model = m.key AND v.entry = f.entry::bigint LIMIT 1)
    FROM find_keys(chosen, most, since, latest, least_trust, entities, tags, threads) AS f;
END $$;
COMMENT ON FUNCTION near_entries IS '${markOf(place)}';
`

/** Said of the function, so that an opening sees of which edition it is, and where the extension stood. */
function markOf(place: string): string {
  return `edition ${EDITION}, the extension in ${place}`
}

// The name of a schema as it may stand in a statement comes from the server.
const SIGHT = `
  SELECT (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
      WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')) AS place,
    EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') AS available,
    (SELECT obj_description(p.oid, 'pg_proc') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1 AND p.proname = 'near_entries') AS mark,
    EXISTS (SELECT 1 FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'vectors' AND t.tgname = 'halves') AS kept`

interface Sight {
  readonly place: string | null
  readonly available: boolean
  readonly mark: string | null
  readonly kept: boolean
}

const sight = (ask: Ask, schema: string): Effect.Effect<Sight, unknown> =>
  Effect.map(ask(SIGHT, [text(schema)]), ([row]) => row as Sight)

const isMade = ({ kept, mark, place }: Sight): boolean => place !== null && kept && mark === markOf(place)

/** Not in the schema of the index, which may be dropped with all that is in it. */
const EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"

/** Of one server, whatever the schema: two do not make the extension at once. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('reverie vector', 0))"

const making = (ask: Ask, schema: string): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    // Who has the table at work is not waited for long: the next opening tries again.
    yield* ask("SET LOCAL lock_timeout = '2s'")
    yield* ask(LOCK)
    if ((yield* sight(ask, schema)).place === null) yield* ask(EXTENSION)
    const now = yield* sight(ask, schema)
    if (now.place !== null && !isMade(now)) yield* ask(command(near(now.place)))
  })

const UNFILLED = `SELECT EXISTS (SELECT 1 FROM vectors WHERE half IS NULL) AS more`

const ROWS_A_PIECE = 512

// The trigger does it. What someone else writes meanwhile is left to him.
const FILL = `
  UPDATE vectors SET vector = vector WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM vectors WHERE half IS NULL ORDER BY entry LIMIT ${ROWS_A_PIECE} FOR UPDATE SKIP LOCKED))`

const isFilled = (ask: Ask): Effect.Effect<boolean, unknown> =>
  Effect.map(ask(UNFILLED), (rows) => !(rows as ReadonlyArray<{ more: boolean }>)[0]?.more)

/** Gives every vector its place in the column, piece by piece. */
export const filled = (ask: Ask): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    while (!(yield* isFilled(ask))) {
      yield* ask(FILL)
      yield* Effect.sleep("5 millis")
    }
  })

/** How nearest entries are found; `filling` when they are in the database as soon as older vectors are `filled`. */
export type Nearness = "database" | "filling" | "process"

/** Makes what it takes where it can be made. */
export const nearnessIn = (ask: Ask, within: Transaction, schema: string): Effect.Effect<Nearness, unknown> =>
  Effect.gen(function* () {
    const before = yield* sight(ask, schema)
    if (before.place === null && !before.available) return "process"
    if (!isMade(before)) {
      const refused = yield* Effect.match(
        within((inside) => making(inside, schema)),
        { onFailure: String, onSuccess: () => undefined }
      )
      if (refused !== undefined) yield* Effect.logDebug(`vectors are compared in the process: ${refused}`)
      if (refused !== undefined || !isMade(yield* sight(ask, schema))) return "process"
    }
    return (yield* isFilled(ask)) ? "database" : "filling"
  })
