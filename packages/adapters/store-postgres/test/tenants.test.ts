import { assert, it } from "@effect/vitest"

import { type Claim, LANES, TenantId } from "@reverie/protocol"
import { aJob, aMessage, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import type { Database } from "../src/database.ts"
import { asRole, aSchema, openAt, tablesAt } from "./stores.ts"
import { StoreUnguarded } from "../src/errors.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const harbor = TenantId.make("harbor")
const tower = TenantId.make("tower")
/** Stands in every text of the other tenant, and in no word of ours. */
const SECRET = "Zx9secret"

type Store = Effect.Success<ReturnType<typeof openAt>>

let roles = 0

/** A role that row-level security holds. */
const aGuest = (admin: Database, schema: string) =>
  Effect.gen(function* () {
    const role = `guest_${++roles}`
    yield* admin.query(`CREATE ROLE ${role} LOGIN`)
    yield* admin.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    yield* admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    return asRole(url(), role)
  })

/** One of everything for a tenant. */
const settle = ({ archive, blocks, ledger, mailbox, prompts }: Store, tenant: TenantId, mark: string) =>
  Effect.gen(function* () {
    const ada = anAddress("ada", tenant)
    const bob = anAddress("bob", tenant)
    for (const address of [ada, bob]) {
      yield* ledger.create({
        address,
        state: aState({ snapshot: mark }),
        entry: anEntry({ messages: [aMessage(mark)] })
      })
    }
    for (const id of ["m-1", "m-2"]) {
      yield* mailbox.accept(anEnvelope({ id, to: ada, event: { type: "message", text: mark } }))
    }
    const { claim } = yield* mailbox.claim({ address: ada, worker: mark, leaseMillis: 1 })
    const [letter] = yield* mailbox.pending(ada, ["mail"], 1)
    if (letter === undefined) return yield* Effect.die("no letter")
    const entry = anEntry({
      no: 2,
      cause: { kind: "dead-letter", lane: "mail", seq: letter.seq, id: letter.id },
      settled: [{ id: letter.id, outcome: "dead", reason: mark }],
      sends: [anEnvelope({ id: `${mark}-s`, to: bob })],
      records: [{ kind: "journal", key: mark, value: mark }]
    })
    yield* ledger.commit(claim, { entry, state: aState({ snapshot: mark, jobs: [aJob()] }) })
    yield* archive.archive(ada, 1, 1)
    yield* prompts.append(tenant, [{ kind: "template", key: "greeting", expected: 0, body: mark }])
    const request = { tenant, by: "ada", isSystem: true, key: "made", at: 1 }
    yield* blocks.create({ owner: "ada", label: "notes", type: "working", content: mark }, request)
  })

const tables = (query: Database["query"], schema: string) =>
  Effect.map(
    query<{ readonly name: string }>(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 1`,
      [schema]
    ),
    (rows) => rows.map(({ name }) => name)
  )

/** Every row of a tenant, in every table. */
const witness = (query: Database["query"], schema: string, tenant: string) =>
  Effect.gen(function* () {
    const found: Record<string, unknown> = {}
    for (const table of yield* tables(query, schema)) {
      if (table === "store" || table === "moves") continue
      found[table] = yield* query(`SELECT t::text AS row FROM ${table} t WHERE tenant = $1 ORDER BY 1`, [tenant])
    }
    return JSON.stringify(found)
  })

/** What a connection may try. Whatever it is answered or refused, it is answered with. */
const deeds = ({ archive, blocks, ledger, mailbox, prompts }: Store) => {
  const addresses = [harbor, tower].flatMap((tenant) => ["ada", "bob", "new"].map((name) => anAddress(name, tenant)))
  const claims: Array<Claim> = addresses.map((address) => ({ address, worker: "w", epoch: 1, leaseUntil: 0 }))
  const viewer = { tenant: tower, by: "ada", isSystem: true }
  let keys = 0
  return fc.oneof(
    fc.constantFrom(...addresses).chain((to) =>
      fc.constantFrom<Effect.Effect<unknown, unknown>>(
        mailbox.accept(anEnvelope({ id: "m-1", to })),
        mailbox.accept(anEnvelope({ id: "fresh", to })),
        Effect.tap(mailbox.claim({ address: to, worker: "w", leaseMillis: 1 }), ({ claim }) =>
          Effect.sync(() => claims.push(claim))
        ),
        mailbox.fence(to),
        mailbox.pending(to, LANES, 64),
        ledger.inspect(to),
        ledger.entries(to, 1, 100),
        ledger.recent(to, 10_000),
        ledger.records(to, ["journal"]),
        archive.reached(to),
        archive.archive(to, 99, 1),
        archive.remove(to, 1),
        ledger.create({ address: to, state: aState({ jobs: [aJob()] }), entry: anEntry() })
      )
    ),
    fc.nat(30).map((index) =>
      Effect.suspend(() => {
        const claim = claims[index % claims.length]!
        return Effect.all(
          [
            Effect.exit(mailbox.renew(claim, 10)),
            Effect.exit(ledger.commit(claim, { entry: anEntry({ no: 2 }), state: aState() })),
            Effect.exit(ledger.commit(claim, { entry: anEntry({ no: 3 }), state: aState() })),
            Effect.exit(mailbox.release(claim))
          ],
          { concurrency: "unbounded" }
        )
      })
    ),
    fc.constantFrom<Effect.Effect<unknown, unknown>>(
      mailbox.due(100),
      mailbox.nextDue,
      ledger.outbox(0, 100),
      ledger.outboxEnd,
      ledger.openSends(100),
      ledger.settleSends([1, 2, 3, 4, 5, 6]),
      ledger.list(undefined, 100),
      ledger.deadLetters(100),
      ledger.discard(anAddress("ada", tower), anEnvelope({ id: "m-1" }).id),
      prompts.current(tower, "template"),
      prompts.history(tower, { kind: "template", key: "greeting" }, { limit: 9 }),
      prompts.append(tower, [{ kind: "template", key: "greeting", expected: 1, body: "ours" }]),
      prompts.append(tower, [{ kind: "template", key: "greeting", expected: 0, body: "ours" }]),
      blocks.list(viewer),
      Effect.suspend(() =>
        blocks.create(
          { owner: "ada", label: `notes-${++keys}`, type: "working", content: "ours" },
          { ...viewer, key: `${keys}`, at: 2 }
        )
      ),
      blocks.create(
        { owner: "ada", label: "notes", type: "working", content: "ours" },
        { ...viewer, key: "made", at: 1 }
      )
    )
  )
}

postgres.describe("tenants", () => {
  it.effect(
    "R1 K1 P4 a connection for one tenant learns nothing of another and changes nothing of it, whatever it tries",
    () =>
      Effect.gen(function* () {
        const schema = aSchema()
        const all = yield* openAt(url(), { schema })
        const admin = yield* tablesAt(url(), schema)
        const guest = yield* aGuest(admin, schema)
        yield* settle(all, tower, SECRET)
        const store = yield* openAt(guest, { schema, tenants: [harbor] })
        yield* settle(store, harbor, "ours")
        const before = yield* witness(admin.query, schema, "tower")
        assert.isAbove(before.split(SECRET).length, 15)
        let answered = 0
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(deeds(store), { minLength: 20, maxLength: 40 }), async (tries) => {
              const exits = await Effect.runPromise(
                Effect.forEach(tries, (deed) => Effect.exit(deed), { concurrency: 8 })
              )
              const successes = exits.filter(Exit.isSuccess)
              answered += successes.length
              for (const { value } of successes) assert.notInclude(JSON.stringify(value) ?? "", SECRET)
              assert.strictEqual(await Effect.runPromise(witness(admin.query, schema, "tower")), before)
            }),
            { numRuns: 25, endOnFailure: true }
          )
        )
        assert.isAbove(answered, 100)
        assert.strictEqual((yield* store.ledger.totals).dead, 1)
      }).pipe(Effect.scoped),
    120_000
  )

  it.effect("R1 every table is guarded against every statement", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const all = yield* openAt(url(), { schema })
      const admin = yield* tablesAt(url(), schema)
      for (const [tenant, mark] of [
        [harbor, "ours"],
        [tower, SECRET]
      ] as const) {
        yield* settle(all, tenant, mark)
      }
      const guest = yield* aGuest(admin, schema)
      yield* openAt(guest, { schema, tenants: [harbor] })
      const ours = yield* tablesAt(guest, schema)
      const names = (yield* tables(admin.query, schema)).filter((name) => name !== "store" && name !== "moves")
      assert.isAbove(names.length, 12)
      const before = yield* witness(admin.query, schema, "tower")
      for (const name of names) {
        // The same statements, by a connection that says whose it is.
        const tried = (sql: string) =>
          Effect.exit(
            ours.transaction(20_000, (query) =>
              Effect.andThen(query("SELECT set_config('app.tenants', 'harbor', true)"), query<object>(sql))
            )
          )
        const seen = yield* tried(`SELECT tenant FROM ${name}`)
        assert.deepStrictEqual(
          Exit.isSuccess(seen) &&
            [...new Set(seen.value.map((row) => Reflect.get(row, "tenant")))].filter((t) => t !== "harbor"),
          [],
          name
        )
        const given = yield* tried(`UPDATE ${name} SET tenant = 'tower'`)
        assert.isTrue(Exit.isFailure(given) || (Exit.isSuccess(seen) && seen.value.length === 0), name)
        yield* tried(`DELETE FROM ${name}`)
      }
      assert.strictEqual(yield* witness(admin.query, schema, "tower"), before)
    }).pipe(Effect.scoped)
  )

  it.effect("S3 R2 a role that nothing would hold is refused where tenants are to be kept apart", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const admin = yield* tablesAt(url(), schema)
      yield* admin.query("CREATE ROLE bypassing LOGIN BYPASSRLS")
      for (const at of [url(), asRole(url(), "bypassing")]) {
        const error = yield* Effect.flip(openAt(at, { schema, tenants: [harbor] }))
        assert.instanceOf(error, StoreUnguarded)
        assert.include(error.message, "row-level security does not hold the role")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("R2 the owner of the tables is held too", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const admin = yield* tablesAt(url(), schema)
      yield* admin.query("CREATE ROLE owner LOGIN")
      const [row] = yield* admin.query<{ readonly name: string }>("SELECT current_database() AS name")
      yield* admin.query(`GRANT CREATE ON DATABASE ${row?.name} TO owner`)
      const owner = asRole(url(), "owner")
      const all = yield* openAt(owner, { schema })
      yield* settle(all, harbor, "ours")
      yield* settle(all, tower, SECRET)
      const store = yield* openAt(owner, { schema, tenants: [harbor] })
      assert.strictEqual((yield* store.ledger.list(undefined, 10)).length, 2)
      assert.strictEqual((yield* all.ledger.list(undefined, 10)).length, 4)
      assert.notInclude(JSON.stringify(yield* store.ledger.outbox(0, 100)), SECRET)
    }).pipe(Effect.scoped)
  )
})
