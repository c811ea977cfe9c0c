// Aside: dead letters that somebody has seen to.
// Owns their mark and the count of them. Leaves setting the mark to ledger.ts.
// A1  Letters that are still told have an index of their own: what was discarded costs a look at them nothing.

export const discarded = `
ALTER TABLE dead_letters ADD COLUMN discarded boolean NOT NULL DEFAULT false;
CREATE INDEX dead_letters_assistant ON dead_letters (assistant);
CREATE INDEX dead_letters_told ON dead_letters (seq) WHERE NOT discarded;

-- The one look that reads everything, and so goes through the tables as they lie.
DROP FUNCTION totals();
CREATE FUNCTION totals() RETURNS TABLE (accepted float8, settled float8, dead float8, discarded float8) LANGUAGE sql STABLE
SET enable_seqscan = on SET max_parallel_workers_per_gather = 2 AS $$
  SELECT coalesce(sum(a.last_control + a.last_reply + a.last_mail), 0)::float8, coalesce(sum(a.settled), 0)::float8,
    (SELECT count(*) FROM dead_letters)::float8, (SELECT count(*) FROM dead_letters d WHERE d.discarded)::float8
  FROM assistants a
$$;
`
