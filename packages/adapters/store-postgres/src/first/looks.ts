// Looks: what is looked up row by row, because no plan of one statement would stop in time.
// Owns the walk along the wakes. Leaves who is due to mailbox.ts.
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
