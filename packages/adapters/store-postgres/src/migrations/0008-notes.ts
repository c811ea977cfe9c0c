// Notes: what a holder leaves for the next one, in case it does not end well, and how many holders were lost.
// Owns the column, and the rules of 0003-apply that it changes.
// N1  A note stays until a commit, a release or a fence.
// N2  A commit that leaves a job open is the first attempt at it: a holder that is lost afterwards is one that was lost with it.

export const notes = `
ALTER TABLE assistants ADD COLUMN note text;

CREATE FUNCTION note_one(op operation, said text) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
BEGIN
  SELECT * INTO r FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
  IF NOT FOUND OR r.epoch <> op.epoch THEN
    RETURN ROW(op.p, jsonb_build_object('is', 'lost', 'epoch', coalesce(r.epoch, 0)), NULL)::answered;
  END IF;
  UPDATE assistants SET note = said WHERE key = r.key;
  RETURN ROW(op.p, '{"is":"noted"}', NULL)::answered;
END $$;

CREATE OR REPLACE FUNCTION claim_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
  now bigint;
  state text;
BEGIN
  SELECT * INTO r FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN ROW(op.p, '{"is":"unknown"}', NULL)::answered; END IF;
  now := coalesce(op.at, now_millis());
  IF r.lease_until > now AND r.worker <> op.worker THEN
    RETURN ROW(op.p, jsonb_build_object('is', 'held', 'worker', r.worker, 'until', r.lease_until), NULL)::answered;
  END IF;
  UPDATE assistants SET epoch = r.epoch + 1, attempts = r.attempts + 1, lease_until = now + op.lease, worker = op.worker
    WHERE key = r.key;
  SELECT body INTO state FROM states WHERE assistant = r.key;
  RETURN ROW(op.p, jsonb_build_object('is', 'granted', 'epoch', r.epoch + 1, 'version', r.version, 'until', now + op.lease,
    'attempts', r.attempts + 1, 'note', r.note, 'control', r.control, 'reply', r.reply, 'mail', r.mail), state)::answered;
END $$;

CREATE OR REPLACE FUNCTION release_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assistants SET lease_until = 0, attempts = CASE op.k WHEN 'unclaim' THEN attempts - 1 ELSE 0 END,
    note = CASE op.k WHEN 'unclaim' THEN note END
    WHERE tenant = op.t AND id = op.a AND epoch = op.epoch;
  RETURN ROW(op.p, '{"is":"released"}', NULL)::answered;
END $$;

CREATE OR REPLACE FUNCTION fence_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assistants SET epoch = epoch + 1, lease_until = 0, attempts = 0, note = NULL
    WHERE tenant = op.t AND id = op.a;
  IF FOUND THEN RETURN ROW(op.p, '{"is":"fenced"}', NULL)::answered; END IF;
  RETURN ROW(op.p, '{"is":"unknown"}', NULL)::answered;
END $$;

CREATE OR REPLACE FUNCTION commit_one(op operation, bodies text[], spot bigint) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
  before bigint;
  written bigint;
BEGIN
  SELECT * INTO r FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
  IF op.again THEN
    SELECT l.position INTO written FROM ledger l WHERE assistant = r.key AND no = op.no AND body = bodies[op.b];
    IF FOUND THEN RETURN ROW(op.p, jsonb_build_object('is', 'written', 'position', written), NULL)::answered; END IF;
  END IF;
  IF r.key IS NULL OR r.epoch <> op.epoch OR r.version + 1 <> op.no THEN
    RETURN ROW(op.p, jsonb_build_object('is', 'stale', 'epoch', coalesce(r.epoch, 0), 'version', coalesce(r.version, 0)),
      NULL)::answered;
  END IF;
  IF spot <= r.position THEN
    RAISE EXCEPTION 'an earlier transaction came later to %/%', op.t, op.a USING ERRCODE = 'serialization_failure';
  END IF;
  IF op.lane = 0 THEN r.control := greatest(r.control, op.seq);
  ELSIF op.lane = 1 THEN r.reply := greatest(r.reply, op.seq);
  ELSIF op.lane = 2 THEN r.mail := greatest(r.mail, op.seq);
  END IF;
  before := r.wake;
  r.wake := wake_after(op, r, coalesce(op.at, now_millis()));
  UPDATE assistants a SET attempts = op.jobs::integer, note = NULL, version = op.no, position = spot,
    settled = r.settled + op.settled,
    control = r.control, reply = r.reply, mail = r.mail, receives = op.receives, retired = op.retired, wake = r.wake
    WHERE a.key = r.key AND a.epoch = op.epoch AND a.version = op.no - 1;
  UPDATE states SET body = bodies[op.b + 1] WHERE assistant = r.key;
  IF before <> r.wake THEN PERFORM keep_wake(r.key, op.t, before, r.wake); END IF;
  PERFORM file_entry(op, bodies, r.key, spot);
  RETURN ROW(op.p, jsonb_build_object('is', 'written', 'position', spot), NULL)::answered;
END $$;

CREATE OR REPLACE FUNCTION apply(operations jsonb, bodies text[]) RETURNS SETOF answered LANGUAGE plpgsql AS $$
DECLARE
  op operation;
  first bigint;
  entries integer := 0;
BEGIN
  SELECT (pg_current_xact_id()::text::bigint + raised) * 4096 INTO STRICT first FROM store;
  FOR op IN
    SELECT * FROM jsonb_populate_recordset(NULL::operation, operations) o ORDER BY o.k = 'settle', o.t, o.a, o.p
  LOOP
    CASE op.k
      WHEN 'accept' THEN RETURN NEXT accept_one(op, bodies[op.b]);
      WHEN 'claim' THEN RETURN NEXT claim_one(op);
      WHEN 'commit' THEN
        RETURN NEXT commit_one(op, bodies, first + entries);
        entries := entries + 1;
      WHEN 'release', 'unclaim' THEN RETURN NEXT release_one(op);
      WHEN 'renew' THEN RETURN NEXT renew_one(op);
      WHEN 'note' THEN RETURN NEXT note_one(op, bodies[op.b]);
      WHEN 'fence' THEN RETURN NEXT fence_one(op);
      WHEN 'creation' THEN
        RETURN NEXT creation_one(op, bodies, first + entries);
        entries := entries + 1;
      WHEN 'settle' THEN
        PERFORM settle_sends(ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(op.seqs)));
        RETURN NEXT ROW(op.p, '{"is":"settled"}', NULL)::answered;
    END CASE;
  END LOOP;
  IF entries > 4096 THEN RAISE EXCEPTION 'a batch of % entries is longer than 4096', entries; END IF;
  RETURN NEXT ROW(-1, to_jsonb(now_millis()), NULL)::answered;
END $$;
`
