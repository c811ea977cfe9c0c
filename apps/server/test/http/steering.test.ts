import { assert, describe, it } from "@effect/vitest"
import { defineTool } from "reverie"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { aPath, assertFailure, bearer, type Rig, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

const deadLetter = defineTool({
  name: "launch",
  description: "Launches it.",
  needsApproval: true,
  input: Schema.toStandardSchemaV1(Schema.Struct({ what: Schema.String })),
  run: ({ what }: { readonly what: string }) => Promise.resolve(`${what} is launched`)
})

const asksToLaunch = [{ calls: [{ tool: "launch", arguments: { what: "the boat" } }] }, { text: "Done." }] as const

const settled = async ({ fleet }: Rig): Promise<void> => fleet.idle()

describe("assistants by HTTP", () => {
  it("creates, lists, inspects, orders; what is not there is not found", async () => {
    const rig = await openRig()
    const { ask, post } = rig
    assert.deepStrictEqual((await post("/v1/assistants", { id: "second", definition: "desk" })).json, {
      outcome: "created",
      id: "second"
    })
    assert.strictEqual((await post("/v1/assistants", { id: "second", definition: "desk" })).json.outcome, "exists")
    assertFailure(await post("/v1/assistants", { id: "third", definition: "nothing" }), 404, "NotFound")
    assertFailure(await post("/v1/assistants", { id: "no/id", definition: "desk" }), 400, "Malformed")
    const list = await ask("/v1/assistants")
    assert.deepStrictEqual(
      list.json.items.map(({ id }: Loose) => id),
      ["clerk", "desk", "second"]
    )
    assert.deepInclude(list.json.counts, { total: 3, idle: 3, halted: 0 })
    const halt = await post("/v1/assistants/desk/orders", {
      order: "halt",
      reason: "a look",
      id: "order-1"
    })
    assert.strictEqual(halt.json.outcome, "accepted")
    const again = await post("/v1/assistants/desk/orders", {
      order: "halt",
      reason: "a look",
      id: "order-1"
    })
    assert.strictEqual(again.json.outcome, "duplicate")
    await settled(rig)
    const halted = await ask("/v1/assistants/desk")
    assert.deepInclude(halted.json, { state: "halted", mode: "halted", haltReason: "a look" })
    assert.include(halted.json.accepts, "resume")
    assert.notInclude(halted.json.accepts, "message")
    await post("/v1/assistants/desk/messages", { text: "While you are away." })
    const mailbox = await ask("/v1/assistants/desk/mailbox")
    assert.deepInclude(mailbox.json.items[0], {
      lane: "mail",
      type: "message",
      text: "While you are away."
    })
    const row = (await ask("/v1/assistants?state=halted")).json
    assert.deepStrictEqual([row.matched, row.items[0].waiting], [1, 1])
    await post("/v1/assistants/desk/orders", { order: "resume" })
    await settled(rig)
    assert.strictEqual((await ask("/v1/assistants/desk")).json.state, "awake.idle")
    const usage = await ask("/v1/usage?assistant=desk&by=purpose")
    assert.strictEqual(usage.json.total.calls, 1)
    assert.isAbove(usage.json.total.tokens, 0)
    assert.deepStrictEqual(usage.json.items, [{ key: "answer", ...usage.json.total }])
    for (const path of ["assistants/nobody", "assistants/nobody/mailbox", "assistants/nobody/messages"]) {
      assertFailure(await ask(`/v1/${path}`), 404, "NotFound")
    }
    assertFailure(await ask("/v1/usage?assistant=nobody"), 404, "NotFound")
    assertFailure(await ask("/v1/usage?by=colour"), 400, "Malformed")
    assertFailure(await post("/v1/assistants/nobody/orders", { order: "halt" }), 404, "NotFound")
    assertFailure(await post("/v1/assistants/nobody/messages", { text: "a" }), 404, "NotFound")
    assertFailure(await post("/v1/assistants/desk/orders", { order: "explode" }), 400, "Malformed")
    assertFailure(await ask("/v1/assistants?limit=501"), 400, "Malformed")
    assertFailure(await ask("/v1/assistants?cursor=abc"), 400, "Malformed")
    assertFailure(await ask("/v1/assistants?sort=colour"), 400, "Malformed")
  })

  it("a sleep of so many milliseconds ends by itself", async () => {
    const rig = await openRig()
    const { ask, post } = rig
    const order = "/v1/assistants/desk/orders"
    assert.strictEqual((await post(order, { order: "sleep", forMs: 3_600_000 })).json.outcome, "accepted")
    await settled(rig)
    assert.match((await ask("/v1/assistants/desk")).json.state, /^dreaming\./)
    await post(order, { order: "wake" })
    await settled(rig)
    await post(order, { order: "sleep", forMs: 1 })
    await rig.fleet.idle({ patienceMs: 10_000 })
    assert.strictEqual((await ask("/v1/assistants/desk")).json.state, "awake.idle")
    assertFailure(await post(order, { order: "sleep", forMs: 0 }), 400, "Malformed")
  })

  it("orders many at once, and tells their number before", async () => {
    const rig = await openRig()
    const { ask, post } = rig
    const dry = await post("/v1/orders", { order: "halt", q: "cl", dryRun: true })
    assert.deepStrictEqual(dry.json, { matched: 1, told: 0, ids: ["clerk"] })
    assert.deepStrictEqual((await ask("/v1/assistants?state=halted")).json.matched, 0)
    assert.deepStrictEqual((await post("/v1/orders", { order: "halt", ids: ["desk", "nobody"] })).json, {
      matched: 1,
      told: 1,
      ids: ["desk"]
    })
    assert.strictEqual((await post("/v1/orders", { order: "halt" })).json.told, 2)
    await settled(rig)
    assert.strictEqual((await ask("/v1/assistants")).json.counts.halted, 2)
  })
})

describe("messages by HTTP", () => {
  it("M1 C1 202 is durable; the same key is the same answer, wherever it stands", async () => {
    const rig = await openRig({ says: [{ text: "Aye." }] })
    const { ask, post } = rig
    const path = "/v1/assistants/desk/messages"
    const first = await post(path, { text: "Hello." }, { "idempotency-key": "one" })
    assert.deepStrictEqual([first.status, first.json], [202, { outcome: "accepted", envelope: "one" }])
    assert.strictEqual((await post(path, { text: "Hello.", id: "one" })).json.outcome, "duplicate")
    assert.strictEqual((await post(path, { text: "Hello.", id: "one" }, { "idempotency-key": "one" })).status, 202)
    assertFailure(await post(path, { text: "Hi.", id: "one" }, { "idempotency-key": "one" }), 400, "Malformed")
    assertFailure(await post(path, { text: "Hi.", id: "one" }, { "idempotency-key": "two" }), 400, "Malformed")
    assertFailure(await post(path, { text: 1 }), 400, "Malformed")
    const events = "/v1/assistants/desk/events"
    assert.strictEqual((await post(events, { event: { type: "message", text: "As an event." } })).status, 202)
    assertFailure(await post(events, { event: { type: "unheard" } }), 400, "Malformed")
    assertFailure(await post(events, { event: { text: "no type" } }), 400, "Malformed")
    await settled(rig)
    const history = await ask(path)
    assert.deepStrictEqual(
      history.json.items.map(({ content, role }: Loose) => `${role}: ${content}`),
      ["user: Hello.", "assistant: Aye.", "user: As an event.", "assistant: Aye."]
    )
    const pages: Array<string> = []
    for (let before: number | null | undefined; before !== null;) {
      const page: Loose = (await ask(`${path}?limit=1${before === undefined ? "" : `&before=${before}`}`)).json
      pages.unshift(...page.items.map(({ content }: Loose) => content))
      before = page.next
    }
    assert.deepStrictEqual(pages, ["Hello.", "Aye.", "As an event.", "Aye."])
  })
})

describe("approvals by HTTP", () => {
  const opened = async () => {
    const rig = await openRig({ says: asksToLaunch, tools: [deadLetter] })
    await rig.post("/v1/assistants/desk/messages", { text: "Launch it." })
    await settled(rig)
    const { json } = await rig.ask("/v1/approvals")
    assert.lengthOf(json.items, 1)
    return { ...rig, asked: json.items[0] }
  }

  it("V1 V2 shows what would run; decides what was shown, once", async () => {
    const { ask, asked, fleet, post } = await opened()
    assert.deepInclude(asked, {
      assistant: "desk",
      tool: "launch",
      arguments: '{"what":"the boat"}',
      invisible: false
    })
    const path = `/v1/approvals/desk/${encodeURIComponent(asked.approval)}`
    assertFailure(await post(path, { decision: "approved", seen: '{"what":"the ship"}' }), 409, "Conflict")
    assertFailure(await post("/v1/approvals/desk/unknown", { decision: "approved" }), 409, "Conflict")
    assertFailure(await post("/v1/approvals/nobody/unknown", { decision: "approved" }), 404, "NotFound")
    const decide = () => post(path, { decision: "approved", seen: asked.arguments })
    const both = await Promise.all([decide(), decide()])
    assert.deepStrictEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409]
    )
    await fleet.idle()
    assertFailure(await post(path, { decision: "denied" }), 409, "Conflict")
    assert.deepStrictEqual((await ask("/v1/approvals")).json.items, [])
    const said = (await ask("/v1/assistants/desk/messages")).json.items.map(({ content }: Loose) => content)
    assert.include(said, "the boat is launched")
  })
})

describe("queues and dead letters by HTTP", () => {
  it("tells dead letters, and sends it again once", async () => {
    const rig = await openRig()
    const { ask, post } = rig
    await post("/v1/assistants/clerk/orders", { order: "halt" })
    await settled(rig)
    await post("/v1/assistants/clerk/messages", { text: "Too late.", id: "late" })
    await post("/v1/assistants/clerk/orders", { order: "retire" })
    await settled(rig)
    const dead = await ask("/v1/dead-letters")
    assert.deepInclude(dead.json.items[0], {
      assistant: "clerk",
      envelope: "late",
      text: "Too late."
    })
    assert.deepInclude((await ask("/v1/dead-letters/clerk/letter?envelope=late")).json, {
      ...dead.json.items[0],
      from: "user"
    })
    assert.notProperty((await ask("/v1/dead-letters/clerk/letter?envelope=late")).json, "tick")
    assertFailure(await ask("/v1/dead-letters/desk/letter?envelope=late"), 404, "NotFound")
    assertFailure(await ask("/v1/dead-letters/clerk/letter"), 400, "Malformed")
    assertFailure(await post("/v1/dead-letters/clerk/retry", { envelope: "unknown" }), 404, "NotFound")
    const queues = await ask("/v1/queues")
    assert.deepInclude(queues.json.queues[0], { name: "mailboxes", waiting: 0, failed: 1 })
    assert.strictEqual(queues.json.totals.dead, 1)
    assert.notProperty(queues.json, "deadLetters")
    const together = (await ask("/v1/queues?letters=1")).json
    assert.deepStrictEqual(together.deadLetters, dead.json.items, "K3")
    assert.strictEqual(together.totals.dead - together.totals.discarded, 1)
    assert.strictEqual((await ask("/v1/queues?letters=1000000")).status, 400)
    // Who has retired takes nothing any more, and so the letter stays.
    assertFailure(await post("/v1/dead-letters/clerk/retry", { envelope: "late" }), 409, "Conflict")
    assert.lengthOf((await ask("/v1/dead-letters")).json.items, 1)
    await rig.fleet.send("desk", "\u200b", { id: "empty" })
    await settled(rig)
    const sendAgain = async () => (await post("/v1/dead-letters/desk/retry", { envelope: "empty" })).json
    assert.deepInclude(await sendAgain(), { outcome: "accepted", envelope: "again/empty/1" })
    assert.deepInclude(await sendAgain(), { outcome: "duplicate", envelope: "again/empty/1" })
    await settled(rig)
    assert.deepStrictEqual(
      (await ask("/v1/dead-letters")).json.items.map(({ envelope }: Loose) => envelope),
      ["again/empty/1", "late"]
    )
    assert.deepInclude((await ask("/v1/queues")).json.totals, { dead: 3, discarded: 1 })
  })

  it("discards one: listed and counted no more, once, by anyone who may, and written down", async () => {
    const { ask, fleet, post } = await openRig({ tokens })
    for (const tenant of ["north", "south"]) {
      const own = fleet.forTenant(tenant)
      await own.create("clerk")
      await own.halt("clerk", "a test")
      await fleet.idle()
      for (const id of ["late", "later"]) await own.send("clerk", "Too late.", { id })
      await own.retire("clerk")
      await fleet.idle()
    }
    const north = bearer(SECRETS.north)
    const south = bearer(SECRETS.south)
    const listed = async (headers: typeof north) =>
      (await ask("/v1/dead-letters", { headers })).json.items.map(({ envelope }: Loose) => envelope)
    const discard = (envelope: string, headers: typeof north) =>
      post("/v1/dead-letters/clerk/discard", { envelope }, headers)
    assert.deepStrictEqual(await listed(north), ["later", "late"])
    assertFailure(await discard("late", bearer("onlooker-secret-0123456789")), 403, "Forbidden")
    assertFailure(await discard("unknown", north), 404, "NotFound")
    assertFailure(await post("/v1/dead-letters/desk/discard", { envelope: "late" }, north), 404, "NotFound")
    assertFailure(await discard("late", bearer("nobody")), 401, "Unauthorized")
    assert.deepStrictEqual(await listed(north), ["later", "late"])
    assert.deepStrictEqual((await discard("late", north)).json, { outcome: "discarded" })
    assert.deepStrictEqual((await discard("late", north)).json, { outcome: "already" })
    assert.deepStrictEqual([await listed(north), await listed(south)], [["later"], ["later", "late"]])
    const [mailboxes] = (await ask("/v1/queues", { headers: north })).json.queues
    assert.strictEqual(mailboxes.failed, 1)
    assert.deepStrictEqual((await discard("later", south)).json, { outcome: "discarded" })
    assert.deepStrictEqual([await listed(north), await listed(south)], [["later"], ["late"]])
    const lines = (await ask("/v1/audit", { headers: north })).json.items
    assert.deepStrictEqual(
      lines.map(({ action, outcome, target, who }: Loose) => [who, action, target, outcome]),
      [
        ["northerner", "queues.discard", "clerk late", "done"],
        ["northerner", "queues.discard", "clerk late", "done"],
        ["northerner", "queues.discard", "desk late", "refused: NotFound"],
        ["northerner", "queues.discard", "clerk unknown", "refused: NotFound"],
        ["onlooker", "queues.discard", "clerk late", "refused: this token may only look"]
      ]
    )
  })

  it("does not know the dead letters of another tenant", async () => {
    const { ask, fleet, post } = await openRig({ tokens })
    const south = fleet.forTenant("south")
    await south.create("clerk")
    await south.halt("clerk", "a test")
    await fleet.idle()
    await south.send("clerk", "Too late.", { id: "late" })
    await south.retire("clerk")
    await fleet.idle()
    const asked = await post("/v1/dead-letters/clerk/discard", { envelope: "late" }, bearer(SECRETS.north))
    assertFailure(asked, 404, "NotFound")
    assert.lengthOf((await ask("/v1/dead-letters", { headers: bearer(SECRETS.south) })).json.items, 1)
  })
})

describe("the system by HTTP", () => {
  it("A2 writes down who changed what, in memory and in the file", async () => {
    const auditFile = aPath()
    const { ask, post, server } = await openRig({ auditFile, tokens })
    await post("/v1/assistants", { id: "desk" }, bearer(SECRETS.north))
    await post("/v1/assistants/nobody/messages", { text: "secret words" }, bearer(SECRETS.north))
    await post("/v1/assistants", { id: "clerk" }, bearer(SECRETS.south))
    const lines = (await ask("/v1/audit", { headers: bearer(SECRETS.north) })).json.items
    assert.deepStrictEqual(
      lines.map(({ action, outcome, target, tenant, who }: Loose) => [tenant, who, action, target, outcome]),
      [
        ["north", "northerner", "messages.send", "nobody", "refused: NotFound"],
        ["north", "northerner", "assistants.create", "desk", "done"]
      ]
    )
    await server.close()
    const file = await readFile(auditFile, "utf8")
    assert.deepStrictEqual(
      file
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).target),
      ["desk", "nobody", "clerk"]
    )
    assert.notInclude(file, "secret")
  })

  it("Y1 tells what it is, without a secret", async () => {
    const { ask } = await openRig({
      tokens,
      config: [{ name: "OPENAI_API_KEY", value: "set", origin: "environment" }]
    })
    const { json, text } = await ask("/v1/system", { headers: bearer(SECRETS.north) })
    assert.deepInclude(json, { role: "all", tenant: "north", node: process.version })
    assert.isTrue(json.checks.every(({ ok }: Loose) => ok))
    for (const { secret } of tokens) assert.notInclude(text, secret)
  })
})
