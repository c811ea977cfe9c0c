// Apply: the one statement that writes mailbox and ledger.
// Owns every rule that is judged beside the rows: acceptance, claims, fences, waking. Leaves reading back to queries.
// A1  A batch of operations is one statement and one transaction. A refusal is an answer; an error undoes the batch.
// A2  Operations run in the order of addresses, and for one address in the order of asking: each takes the row of its
//     assistant first, so that of two batches one waits and none is in the other's way. Sends are settled last.
// A3  A commit is written under the epoch that is the highest and on the version that is the last, or not at all.
// A4  The position of an entry is (id of its transaction + raised) * 4096 + its place in the batch. It is a safe integer
//     for two thousand milliards of transactions, and grows with every commit of one assistant: a transaction that waited
//     for the row behind a later one is refused as a serialization failure and begins again under a new id.
// A5  The time is that of the database after the row was taken, unless the operation brings one along.
// A6  An operation that is asked again because its answer was lost says so, and is answered as it would have been.
// A7  A note stays until a commit, a release or a fence.
// A8  A commit that leaves a job open is the first attempt at it: a holder that is lost afterwards is one that was lost
//     with it.

/** As in the wakes of the embedded store: negative since when, or from when on, or at rest. */
export const AT_REST = 2 ** 47 - 1
const AWAKE = 2 ** 46

const inputs = `
CREATE TYPE operation AS (
  p integer, k text, t text COLLATE "C", a text COLLATE "C", at bigint, again boolean, b integer,
  id text, lane smallint, worker text, lease bigint, epoch bigint, no bigint, seq bigint, receives smallint,
  retired boolean, jobs boolean, timer bigint, sends integer, letters integer, usage jsonb, records jsonb, settled bigint, seqs jsonb
);
CREATE TYPE answered AS (place integer, answer jsonb, body text);

CREATE FUNCTION now_millis() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- The wake of one who has had something to do since then.
CREATE FUNCTION awake_since(millis bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(greatest(millis, 0), ${AWAKE - 1}) - ${AWAKE}
$$;

-- Since when, or from when on.
CREATE FUNCTION wake_time(wake bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN wake < 0 THEN wake + ${AWAKE} ELSE wake END
$$;

CREATE FUNCTION wake_on_mail(wake bigint, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN wake < 0 THEN wake ELSE awake_since(least(now, wake)) END
$$;

CREATE FUNCTION keep_wake(who bigint, whose text, before bigint, after bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF before = after THEN RETURN; END IF;
  IF after = ${AT_REST} THEN DELETE FROM wakes WHERE assistant = who;
  ELSIF before = ${AT_REST} THEN INSERT INTO wakes (assistant, wake, tenant) VALUES (who, after, whose);
  ELSE UPDATE wakes SET wake = after WHERE assistant = who;
  END IF;
END $$;
`

const mailbox = `
CREATE FUNCTION accept_one(op operation, envelope text) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
  now bigint;
  place bigint;
  after bigint;
BEGIN
  SELECT * INTO r FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
  IF NOT FOUND OR r.retired THEN RETURN ROW(op.p, '{"is":"unknown"}', NULL)::answered; END IF;
  now := coalesce(op.at, now_millis());
  place := 1 + CASE op.lane WHEN 0 THEN r.last_control WHEN 1 THEN r.last_reply ELSE r.last_mail END;
  INSERT INTO envelopes (assistant, lane, seq, accepted_at, tenant, id, body)
    VALUES (r.key, op.lane, place, now, op.t, op.id, envelope) ON CONFLICT (assistant, id) DO NOTHING;
  IF NOT FOUND THEN
    IF op.again AND EXISTS (SELECT 1 FROM envelopes WHERE assistant = r.key AND id = op.id AND body = envelope) THEN
      RETURN ROW(op.p, '{"is":"accepted"}', NULL)::answered;
    END IF;
    RETURN ROW(op.p, '{"is":"duplicate"}', NULL)::answered;
  END IF;
  after := CASE WHEN (r.receives >> op.lane) & 1 = 1 THEN wake_on_mail(r.wake, now) ELSE r.wake END;
  UPDATE assistants SET
    last_control = last_control + (op.lane = 0)::integer,
    last_reply = last_reply + (op.lane = 1)::integer,
    last_mail = last_mail + (op.lane = 2)::integer,
    wake = after
    WHERE key = r.key;
  IF after <> r.wake THEN PERFORM keep_wake(r.key, op.t, r.wake, after); END IF;
  RETURN ROW(op.p, '{"is":"accepted"}', NULL)::answered;
END $$;

CREATE FUNCTION claim_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
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

CREATE FUNCTION renew_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
  now bigint;
BEGIN
  SELECT * INTO r FROM assistants WHERE tenant = op.t AND id = op.a FOR NO KEY UPDATE;
  IF NOT FOUND OR r.epoch <> op.epoch THEN
    RETURN ROW(op.p, jsonb_build_object('is', 'lost', 'epoch', coalesce(r.epoch, 0)), NULL)::answered;
  END IF;
  now := coalesce(op.at, now_millis());
  UPDATE assistants SET lease_until = now + op.lease, worker = op.worker WHERE key = r.key;
  RETURN ROW(op.p, jsonb_build_object('is', 'renewed', 'until', now + op.lease), NULL)::answered;
END $$;

-- release: in good order. unclaim: as if the claim, whose state could not be read, had never been granted.
CREATE FUNCTION release_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assistants SET lease_until = 0, attempts = CASE op.k WHEN 'unclaim' THEN attempts - 1 ELSE 0 END,
    note = CASE op.k WHEN 'unclaim' THEN note END
    WHERE tenant = op.t AND id = op.a AND epoch = op.epoch;
  RETURN ROW(op.p, '{"is":"released"}', NULL)::answered;
END $$;

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

CREATE FUNCTION fence_one(op operation) RETURNS answered LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assistants SET epoch = epoch + 1, lease_until = 0, attempts = 0, note = NULL
    WHERE tenant = op.t AND id = op.a;
  IF FOUND THEN RETURN ROW(op.p, '{"is":"fenced"}', NULL)::answered; END IF;
  RETURN ROW(op.p, '{"is":"unknown"}', NULL)::answered;
END $$;
`

// Rows of two entries may be of one hour: they are added up before they are written.
const used = `
CREATE FUNCTION add_usage(who bigint, whose text, used jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO usage AS kept (assistant, hour, model, purpose, tenant, calls, input_tokens, cached_tokens, output_tokens,
      reasoning_tokens, cost_micros, unpriced_calls, last_no)
    SELECT who, r.hour, r.model, r.purpose, whose, sum(r.calls), sum(r."inputTokens"), sum(r."cachedTokens"),
      sum(r."outputTokens"), sum(r."reasoningTokens"), sum(r."costMicros"), sum(r."unpricedCalls"), max(r.no)
    FROM jsonb_to_recordset(used) AS r (hour bigint, model text, purpose text, calls bigint, "inputTokens" bigint,
      "cachedTokens" bigint, "outputTokens" bigint, "reasoningTokens" bigint, "costMicros" bigint,
      "unpricedCalls" bigint, no bigint)
    GROUP BY r.hour, r.model, r.purpose
  ON CONFLICT (assistant, hour, model, purpose) DO UPDATE SET calls = kept.calls + excluded.calls,
    input_tokens = kept.input_tokens + excluded.input_tokens, cached_tokens = kept.cached_tokens + excluded.cached_tokens,
    output_tokens = kept.output_tokens + excluded.output_tokens,
    reasoning_tokens = kept.reasoning_tokens + excluded.reasoning_tokens,
    cost_micros = kept.cost_micros + excluded.cost_micros,
    unpriced_calls = kept.unpriced_calls + excluded.unpriced_calls, last_no = excluded.last_no
$$;
`

// Behind the entry (b) and the state (b + 1) stand its sends, its dead letters and the bodies of its records.
const ledger = `
CREATE FUNCTION file_entry(op operation, bodies text[], who bigint, spot bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  change jsonb;
BEGIN
  INSERT INTO ledger (position, assistant, no, tenant, body) VALUES (spot, who, op.no, op.t, bodies[op.b]);
  FOR i IN op.b + 2 .. op.b + 1 + op.sends LOOP
    INSERT INTO sends (tenant, body) VALUES (op.t, bodies[i]);
  END LOOP;
  FOR i IN op.b + 2 + op.sends .. op.b + 1 + op.sends + op.letters LOOP
    INSERT INTO dead_letters (assistant, tenant, body) VALUES (who, op.t, bodies[i]);
  END LOOP;
  IF op.usage IS NOT NULL THEN PERFORM add_usage(who, op.t, op.usage); END IF;
  IF op.records IS NULL THEN RETURN; END IF;
  FOR change IN SELECT value FROM jsonb_array_elements(op.records) LOOP
    IF change ->> 2 IS NULL THEN
      DELETE FROM records WHERE assistant = who AND kind = change ->> 0 AND key = change ->> 1;
    ELSE
      INSERT INTO records AS kept (assistant, kind, key, tenant, body)
        VALUES (who, change ->> 0, change ->> 1, op.t, bodies[(change ->> 2)::integer])
        ON CONFLICT (assistant, kind, key) DO UPDATE SET body = excluded.body;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION accepted_at(who bigint, which smallint, place bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT accepted_at FROM envelopes WHERE assistant = who AND lane = which AND seq = place
$$;

-- The wake after a commit: a tick in hand keeps its place; else the first envelope that is heard, else the first timer.
CREATE FUNCTION wake_after(op operation, r assistants, now bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  mail bigint;
BEGIN
  IF op.jobs THEN RETURN wake_on_mail(r.wake, now); END IF;
  IF op.receives & 1 = 1 AND r.last_control > r.control THEN mail := accepted_at(r.key, 0::smallint, r.control + 1); END IF;
  IF op.receives & 2 = 2 AND r.last_reply > r.reply THEN
    mail := least(mail, accepted_at(r.key, 1::smallint, r.reply + 1));
  END IF;
  IF op.receives & 4 = 4 AND r.last_mail > r.mail THEN
    mail := least(mail, accepted_at(r.key, 2::smallint, r.mail + 1));
  END IF;
  IF mail IS NOT NULL THEN RETURN awake_since(least(mail, op.timer)); END IF;
  RETURN CASE WHEN op.timer IS NULL THEN ${AT_REST} ELSE least(greatest(op.timer, 0), ${AT_REST - 1}) END;
END $$;

CREATE FUNCTION creation_one(op operation, bodies text[], spot bigint) RETURNS answered LANGUAGE plpgsql AS $$
DECLARE
  r assistants%ROWTYPE;
BEGIN
  r.wake := ${AT_REST};
  INSERT INTO assistants (wake, version, position, receives, retired, tenant, id)
    VALUES (wake_after(op, r, coalesce(op.at, now_millis())), op.no, spot, op.receives, op.retired, op.t, op.a)
    ON CONFLICT (tenant, id) DO NOTHING RETURNING * INTO r;
  IF NOT FOUND THEN
    IF op.again AND EXISTS (
      SELECT 1 FROM assistants JOIN ledger ON assistant = key
      WHERE assistants.tenant = op.t AND id = op.a AND no = op.no AND body = bodies[op.b]
    ) THEN RETURN ROW(op.p, '{"is":"created"}', NULL)::answered; END IF;
    RETURN ROW(op.p, '{"is":"exists"}', NULL)::answered;
  END IF;
  INSERT INTO states (assistant, tenant, body) VALUES (r.key, op.t, bodies[op.b + 1]);
  PERFORM keep_wake(r.key, op.t, ${AT_REST}, r.wake);
  PERFORM file_entry(op, bodies, r.key, spot);
  RETURN ROW(op.p, '{"is":"created"}', NULL)::answered;
END $$;

CREATE FUNCTION commit_one(op operation, bodies text[], spot bigint) RETURNS answered LANGUAGE plpgsql AS $$
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

CREATE FUNCTION settle_sends(wanted bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM sends WHERE seq = ANY (wanted) ORDER BY seq FOR UPDATE;
  DELETE FROM sends WHERE seq = ANY (wanted);
END $$;
`

const batch = `
CREATE FUNCTION apply(operations jsonb, bodies text[]) RETURNS SETOF answered LANGUAGE plpgsql AS $$
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

export const apply = `${inputs}${mailbox}${used}${ledger}${batch}`
