import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import { assert, it } from "vitest"
import {
  type Deployment,
  defineAssistant,
  defineFleet,
  Fleet,
  type FleetOptions,
  type FleetRole
} from "../src/index.ts"

const postgres = sharePostgres({ fsync: false })
const redis = shareRedis()

const sleep = { enabled: true, startHour: 3, timeZone: "Europe/Berlin" }
const assistants = ["ada", "bo", "cy"].map((id) => defineAssistant({ id, instructions: "You are under test.", sleep }))
const fleet = defineFleet({ assistants })

const open = (deployment: Deployment, role: FleetRole): Promise<Fleet> =>
  Fleet.open({ fleet, deployment, role, model: "offline", recall: "none" })

/** Looks until it is so; what is seen last, else. */
const until = async <A>(look: () => Promise<A>, isSo: (seen: A) => boolean): Promise<A> => {
  for (let looks = 0; ; looks++) {
    const seen = await look()
    if (isSo(seen) || looks === 100) return seen
    await new Promise((done) => setTimeout(done, 50))
  }
}

const life = async (deployment: Deployment): Promise<void> => {
  await using api = await open(deployment, "api")
  const worker = await open(deployment, "worker")
  try {
    // The API sees who works, who works sees no one else.
    assert.lengthOf(
      (await until(
        () => api.monitor.otherWorkers(),
        (seen) => seen?.length === 1
      )) ?? [],
      1
    )
    assert.deepStrictEqual(await worker.monitor.otherWorkers(), [])
    for (const id of ["ada", "bo", "cy"])
      assert.notStrictEqual(await api.answer(id, "Say something.", { id: "m-1" }), "")
    assert.strictEqual((await api.send("ada", "Say something.", { id: "m-1" })).outcome, "duplicate")
  } finally {
    await worker.close()
  }
  // No one works: it is accepted, and waits.
  assert.deepStrictEqual(
    await until(
      () => api.monitor.otherWorkers(),
      (seen) => seen?.length === 0
    ),
    []
  )
  await api.send("ada", "Are you there?", { id: "m-2" })
  assert.strictEqual((await api.inspect("ada"))?.waiting, 1)
  const heard: Array<string> = []
  api.on("tick-ended", ({ envelope }) => heard.push(envelope))
  await using next = await open(deployment, "worker")
  await next.idle()
  for (let looks = 0; looks < 100 && heard.length === 0; looks++) await new Promise((done) => setTimeout(done, 50))
  assert.deepStrictEqual(heard, ["m-2"])
  const { accepted, dead, settled } = await api.monitor.totals()
  assert.deepStrictEqual([accepted, settled, dead], [4, 4, 0])
  const metrics = await api.monitor.metrics()
  assert.match(metrics, /reverie_envelopes_settled_total 4/)
  // A schedule of the night for each of them, and the time that is set besides, of which one is enough.
  const [, sleeping = "0"] =
    /bullmq_job_count\{queue="[^"]*sleep[^"]*",\s*state="delayed"[^}]*\} (\d+)/.exec(metrics) ?? []
  assert.isAtLeast(Number(sleeping), 3, metrics)
}

postgres.describe("a fleet on PostgreSQL", () => {
  redis.describe("and Redis", () => {
    it("takes in at one process, works at another, answers at the first, and loses nothing between two workers", async () => {
      await life({ database: postgres.server().url, redis: redis.server().url, name: "on-redis" })
    }, 120_000)
  })

  it("T3 refuses a policy that no one would carry out there, and to vacuum, each in one line", async () => {
    const deployment = { database: postgres.server().url, name: "kept" }
    const desk = defineAssistant({
      id: "desk",
      instructions: "You are under test.",
      retention: { archiveAfter: "30d" }
    })
    const refusalOf = async (options: Partial<FleetOptions> & Pick<FleetOptions, "fleet">) =>
      Fleet.open({ deployment, role: "api", model: "offline", recall: "none", ...options }).then(
        (opened) => opened.close(),
        (error: unknown) => error
      )
    assert.match(
      String(await refusalOf({ fleet: defineFleet({ assistants: [desk] }) })),
      /assistant "desk": its retention needs a data directory; on PostgreSQL every entry is kept as it is/
    )
    assert.match(
      String(await refusalOf({ fleet, tenants: { south: { retention: { deleteAfter: "90d" } } } })),
      /tenant "south": its retention needs a data directory/
    )
    await using api = await open(deployment, "api")
    const vacuum = await api.vacuum().catch((error: unknown) => error)
    assert.match(String(vacuum), /vacuum is for a data directory; PostgreSQL gives back room by itself/)
  }, 120_000)

  it("D2 does the same without Redis", async () => {
    await life({ database: postgres.server().url, name: "alone" })
  }, 120_000)
})
