import { assert, describe, it } from "@effect/vitest"
import {
  defineAssistant,
  defineFleet,
  DefinitionUnknown,
  type Fleet,
  type Notice,
  type FleetReadings
} from "../src/index.ts"
import { failureOf, openFleet } from "./rig.ts"

// Before and after "default" in the order of addresses.
const OTHERS = ["aft", "zulu"] as const
const SECRETS = OTHERS.map((tenant) => `secret of ${tenant}`)

/** Every reading that is of one tenant, under its name. */
const readings: Readonly<Record<string, (records: FleetReadings, id: string) => Promise<unknown>>> = {
  inspect: (records, id) => records.inspect(id),
  list: (records) => records.list(),
  listAfter: (records) => records.list("desk", 1_000),
  listPaged: async (records) => [...(await records.list(undefined, 1)), ...(await records.list("clerk", 1))],
  views: (records) => records.views(),
  entries: (records, id) => records.history.entries(id),
  newest: (records, id) => Array.fromAsync(records.history.newest(id)),
  records: (records, id) => records.memory.records(id),
  recall: (records, id) => records.memory.recall(id, "secret"),
  facts: (records, id) => records.memory.facts(id),
  profiles: (records, id) => records.memory.profiles(id),
  passages: (records, id) => records.memory.passages(id),
  compactions: (records, id) => records.compactions.list(id),
  historyStart: (records, id) => records.compactions.historyStart(id),
  compacted: (records, id) =>
    records.compactions.messages(id, { range: { from: { no: 1, index: 0 }, to: { no: 99, index: 0 } } as never }),
  contextReport: (records, id) => records.history.contextReport(id),
  deadLetters: (records) => records.deadLetters.list(),
  mailbox: (records, id) => records.history.mailbox(id),
  notices: (records) => records.outbox.notices(0, 10_000),
  ticks: (records, id) => records.history.ticks(id),
  tick: (records, id) => records.history.tick(id, 1),
  approvals: (records, id) => records.approvals.list(id),
  allApprovals: (records) => records.approvals.list(),
  dreams: (records, id) => records.memory.dreams(id),
  usage: (records, id) => records.history.usage(id, 0),
  lastError: (records, id) => records.history.lastError(id)
}

/** Gives the tenant a life: one answer, one letter that waits, one that is dead-lettered. */
const lead = async (fleet: Fleet, secret: string): Promise<void> => {
  await fleet.send("desk", secret, { id: `${secret} 1`, from: secret })
  await fleet.idle()
  await fleet.halt("desk", secret)
  await fleet.idle()
  await fleet.send("desk", secret, { id: `${secret} 2`, from: secret })
  await fleet.create("leaver", "desk")
  await fleet.halt("leaver", secret)
  await fleet.idle()
  await fleet.send("leaver", secret, { id: `${secret} 3`, from: secret })
  await fleet.retire("leaver", secret)
  await fleet.idle()
}

const dataStoreOfThree = async (): Promise<{ readonly fleet: Fleet; readonly others: ReadonlyArray<Fleet> }> => {
  const fleet = await openFleet({ says: [{ text: "Yes." }] })
  await lead(fleet, "words of default")
  const others = OTHERS.map((tenant) => fleet.forTenant(tenant))
  for (const [index, other] of others.entries()) {
    await other.create("desk")
    await other.create("yard", "clerk")
    await lead(other, SECRETS[index] ?? "")
  }
  return { fleet, others }
}

describe("tenants of one data store", () => {
  it("R2 of records: a reading tells nothing of another tenant", { timeout: 60_000 }, async () => {
    const { fleet, others } = await dataStoreOfThree()
    await using _ = fleet
    const [first, second] = others
    assert.ok(first !== undefined && second !== undefined)
    let told = 0
    for (const [name, read] of Object.entries(readings)) {
      const own = JSON.stringify(await read(fleet, "desk")) ?? ""
      for (const word of [...SECRETS, '"aft"', '"zulu"', "yard"]) assert.notInclude(own, word, name)
      if (own.includes("default")) told++
      for (const [index, other] of others.entries()) {
        const theirs = JSON.stringify(await read(other, "desk")) ?? ""
        assert.notInclude(theirs, "words of default", name)
        assert.notInclude(theirs, SECRETS[1 - index] ?? "", name)
        assert.notInclude(theirs, '"tenant":"default"', name)
      }
    }
    assert.isAtLeast(told, 8)
    assert.deepStrictEqual(
      (await Promise.all([first, fleet, second].map((each) => each.views()))).map((views) => views.map(({ id }) => id)),
      [
        ["desk", "leaver", "yard"],
        ["clerk", "desk", "leaver"],
        ["desk", "leaver", "yard"]
      ]
    )
    assert.deepStrictEqual(
      (await second.deadLetters.list()).map(({ address, envelope }) => `${address.tenant} ${envelope}`),
      ["zulu secret of zulu 3"]
    )
  })

  it("an order to all, and a listener, concern one tenant", { timeout: 60_000 }, async () => {
    await using fleet = await openFleet({ says: [{ text: "Yes." }] })
    const other = fleet.forTenant("zulu")
    await other.create("desk")
    await other.create("yard", "clerk")
    const heard: Array<Notice> = []
    const everything = new Set<string>()
    fleet.on("*", (notice) => heard.push(notice))
    fleet.outbox.onEvery(({ address }) => everything.add(address.tenant))
    assert.strictEqual(await other.haltAll("for a while"), 2)
    await fleet.idle()
    assert.deepStrictEqual(
      (await other.views()).map(({ state }) => state),
      ["halted", "halted"]
    )
    assert.deepStrictEqual(
      (await fleet.views()).map(({ state }) => state),
      ["awake.idle", "awake.idle"]
    )
    assert.deepStrictEqual(heard, [])
    assert.deepStrictEqual([...everything], ["zulu"])
    assert.strictEqual(await fleet.haltAll("all"), 2)
    assert.strictEqual(await other.resumeAll(), 2)
    await fleet.idle()
    assert.deepStrictEqual(
      (await other.views()).map(({ state }) => state),
      ["awake.idle", "awake.idle"]
    )
    assert.deepStrictEqual(
      (await fleet.views()).map(({ state }) => state),
      ["halted", "halted"]
    )
    assert.isAbove(heard.length, 0)
  })

  it("closing the fleet of another tenant closes nothing", async () => {
    await using fleet = await openFleet()
    const other = fleet.forTenant("zulu")
    assert.strictEqual(other.tenant, "zulu")
    assert.deepStrictEqual(await other.views(), [])
    await other.close()
    assert.strictEqual(await fleet.answer("desk", "Still there?"), "Good morning.")
    assert.throws(() => fleet.forTenant("no/tenant"), /its id must have/)
  })
})

describe("creating an assistant", () => {
  it("creates one from a definition, once, and it lives as others do", async () => {
    await using fleet = await openFleet({ says: [{ text: "Here." }] })
    assert.strictEqual(await fleet.create("third", "clerk"), "created")
    assert.strictEqual(await fleet.create("third", "clerk"), "exists")
    assert.strictEqual(await fleet.create("third", "desk"), "exists")
    assert.strictEqual((await fleet.inspect("third"))?.state.definition, "clerk")
    assert.strictEqual(await fleet.answer("third", "Who is there?"), "Here.")
    assert.strictEqual((await fleet.inspect("third"))?.state.status, "awake.idle")
  })

  it("gives it its blocks and its sleep schedule", async () => {
    const desk = defineAssistant({
      id: "desk",
      instructions: "You keep the desk.",
      sleep: { startHour: 3 },
      blocks: [{ label: "notes", type: "core", content: "empty" }]
    })
    await using fleet = await openFleet({ fleet: defineFleet({ assistants: [desk] }) })
    const other = fleet.forTenant("zulu")
    assert.strictEqual(await other.create("desk"), "created")
    assert.deepStrictEqual(
      (await other.inspect("desk"))?.state.timers.map(({ name }) => name),
      ["sleepTimer"]
    )
    assert.deepStrictEqual(
      (await other.blocks.list("desk")).map(({ label }) => label),
      ["notes"]
    )
    await other.create("night", "desk")
    assert.deepStrictEqual((await other.blocks.list()).map(({ owner }) => owner).toSorted(), ["desk", "night"])
    assert.strictEqual((await fleet.blocks.list()).length, 1)
  })

  it("an unknown definition is refused with those there are, an impossible id with its form", async () => {
    await using fleet = await openFleet()
    const unknown = await failureOf(fleet.create("third"))
    assert.instanceOf(unknown, DefinitionUnknown)
    assert.deepStrictEqual(unknown.known, ["desk", "clerk"])
    assert.strictEqual(unknown.message, 'there is no definition "third"; the fleet has desk, clerk')
    assert.match((await failureOf(fleet.create("../x", "desk"))).message, /is the id of no assistant/)
  })

  it("definitions are JSON", async () => {
    await using fleet = await openFleet()
    const definitions = fleet.definitions()
    assert.deepStrictEqual(JSON.parse(JSON.stringify(definitions)), definitions)
    assert.deepStrictEqual(
      definitions.map(({ isTeam, name }) => [name, isTeam]),
      [
        ["desk", false],
        ["clerk", false]
      ]
    )
    assert.deepStrictEqual(
      definitions[0]?.tools.map(({ name }) => name),
      ["noop"]
    )
  })
})

describe("orders to one assistant", () => {
  it("sleep, wake and retire", async () => {
    await using fleet = await openFleet({ assistant: { settings: { sleepMs: 3_600_000 } } })
    const state = async () => (await fleet.inspect("desk"))?.state.status ?? ""
    await fleet.sleep("desk", { forMs: 3_600_000 })
    await fleet.idle()
    assert.strictEqual(await state(), "dreaming.resting")
    await fleet.wake("desk", "the day begins")
    await fleet.idle()
    assert.strictEqual(await state(), "awake.idle")
    await fleet.retire("desk", "it is over")
    await fleet.idle()
    assert.strictEqual(await state(), "retired")
  })
})

describe("the outbox, for a feed", () => {
  it("notices of one tenant go on where the last page ended, also over pages that are another's", async () => {
    await using fleet = await openFleet({ says: [{ text: "Yes." }] })
    const other = fleet.forTenant("zulu")
    await other.create("desk")
    for (const each of [fleet, other]) for (let n = 0; n < 5; n++) await each.answer("desk", `Hello ${n}?`)
    const end = await fleet.outbox.end()
    const read: Array<Notice> = []
    let after = 0
    let empty = 0
    while (after < end) {
      const { next, notices } = await other.outbox.notices(after, 3)
      assert.isAbove(next, after)
      if (notices.length === 0) empty++
      read.push(...notices)
      after = next
    }
    assert.isAbove(empty, 0)
    assert.deepStrictEqual(await other.outbox.notices(end, 3), { notices: [], next: end })
    assert.deepStrictEqual(read, (await other.outbox.notices(0, 10_000)).notices)
    assert.strictEqual(read.filter(({ type }) => type === "tick-ended").length, 5)
    assert.strictEqual((await fleet.outbox.read(0, 10_000)).at(-1)?.seq, end)
  })
})

describe("a mailbox", () => {
  it("tells what waits, in the order in which it will be read", async () => {
    await using fleet = await openFleet()
    await fleet.halt("desk", "for a look")
    await fleet.idle()
    await fleet.send("desk", "Later.", { id: "m-1", from: "ann" })
    await fleet.sleep("desk", { id: "s-1" })
    await fleet.wake("desk", "now", { id: "w-1" })
    await fleet.idle()
    const waiting = await fleet.history.mailbox("desk")
    assert.deepStrictEqual(
      waiting.map(({ from, id, lane, text = "", type }) => [id, lane, type, from, text]),
      [
        ["w-1", "reply", "wake", "person", "now"],
        ["m-1", "mail", "message", "ann", "Later."],
        ["s-1", "mail", "sleep", "person", ""]
      ]
    )
    assert.isTrue(waiting.every(({ acceptedAt, hops }) => acceptedAt > 0 && hops === 0))
    assert.strictEqual((await fleet.history.mailbox("desk", 1)).length, 1)
    assert.deepStrictEqual(await fleet.history.mailbox("nobody"), [])
  })
})
