import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import { assert, it } from "vitest"
import { type Deployment, defineAssistant, defineFleet, exportFleet, Fleet, type FleetRole } from "../src/index.ts"

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

  it("G1 a limit that is raised at one process lets those go on that another works on, and after a restart", async () => {
    const deployment = { database: postgres.server().url, name: "limited" }
    const tenants = { default: { callsPerDay: 1 } }
    const enter = (role: FleetRole) =>
      Fleet.open({ fleet, deployment, role, model: "offline", recall: "none", tenants })
    const statusOf = async (id: string) => (await api.inspect(id))?.state.status
    const isStatus = async (id: string, status: string) =>
      assert.strictEqual(
        await until(
          () => statusOf(id),
          (seen) => seen === status
        ),
        status
      )
    await using api = await enter("api")
    const worker = await enter("worker")
    await api.answer("ada", "Say something.", { id: "m-1" })
    for (const id of ["bo", "cy"]) {
      await api.send(id, "Say something.", { id: "m-1" })
      await isStatus(id, "awake.thinking.parked")
    }
    await api.monitor.setLimits({ callsPerDay: 2 })
    await until(
      async () => (await api.monitor.limits()).inDay.calls,
      (calls) => calls === 2
    )
    // Both are let go on, one finds the limit reached again: until it has, it is seen asking its model.
    const resting = ["awake.idle", "awake.thinking.parked"]
    const rested = await until(
      async () => [await statusOf("bo"), await statusOf("cy")].map(String).toSorted(),
      (seen) => seen.join() === resting.join()
    )
    assert.deepStrictEqual(rested, resting)
    await worker.close()
    await api.monitor.setLimits({ callsPerDay: null, tokensPerDay: 1_000_000 })
    await api.monitor.setLimits({ callsPerDay: 9 })
    await using next = await enter("worker")
    await isStatus("bo", "awake.idle")
    await isStatus("cy", "awake.idle")
    assert.isTrue((await next.replay.verify("cy")).equal)
  }, 120_000)

  it("Z1 Z2 T1 retention counts there too: what is old is compressed, or says when it was deleted, and a life replays", async () => {
    const word = "kestrel-9713"
    const desk = defineAssistant({
      id: "desk",
      instructions: "You listen.",
      retention: { archiveAfter: 20, deleteAfter: 60 }
    })
    const deployment = { database: postgres.server().url, name: "kept" }
    await using kept = await Fleet.open({
      fleet: defineFleet({ assistants: [desk] }),
      deployment,
      model: "offline",
      recall: "none"
    })
    for (let each = 0; each < 40; each++) {
      await kept.send("desk", each === 3 ? `The harbour code is ${word}.` : `Ship ${each}.`, { id: `m-${each}` })
    }
    await kept.idle()
    const entries = () => kept.history.entries("desk", 1, 10_000)
    const [before, usage] = [await entries(), await kept.usage()]
    const due = await kept.vacuum({ dryRun: true })
    assert.strictEqual(due.deleted.entries, before.length - 60)
    assert.deepStrictEqual(await entries(), before)
    const { archived, bytesAfter, bytesBefore, deleted } = await kept.vacuum()
    assert.deepStrictEqual([deleted.entries, archived.entries], [before.length - 60, 40])
    assert.isAtMost(bytesAfter, bytesBefore)
    const after = await entries()
    assert.deepStrictEqual(after.slice(deleted.entries), before.slice(deleted.entries))
    assert.match(String(after[2]?.entry.messages[0]?.content), /^\[deleted by retention on \d{4}-\d\d-\d\d\]$/)
    assert.notInclude(JSON.stringify(after), word)
    assert.deepStrictEqual(await kept.usage(), usage)
    assert.isTrue((await kept.replay.verify("desk")).equal)
    assert.strictEqual((await kept.send("desk", "again", { id: "m-3" })).outcome, "duplicate")
    await kept.forget({ text: "Ship 30." })
    assert.notInclude(JSON.stringify(await entries()), "Ship 30.")
    assert.isTrue((await kept.replay.verify("desk")).equal)
    const moved = await Array.fromAsync(exportFleet({ from: { deployment } }))
    assert.include(moved.join("\n"), "Ship 39.")
    assert.notInclude(moved.join("\n"), word)
  }, 120_000)

  it("D2 does the same without Redis", async () => {
    await life({ database: postgres.server().url, name: "alone" })
  }, 120_000)
})
