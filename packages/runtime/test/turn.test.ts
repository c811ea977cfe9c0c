import { assert, describe, it } from "@effect/vitest"
import { creation, decide, type Decoded, type Input, jobDone, jobFailed } from "@reverie/assistant"
import type { Cause, Json, OpenTimer } from "@reverie/protocol"
import { aMessage, anEnvelope, anEnvelopeId } from "@reverie/testkit"
import { draftOf, type Inputs, turnOf } from "../src/commit/turn.ts"
import type { TurnInput } from "../src/commit/commit-draft.ts"

const turnFrom = (inputs: Inputs, turnInput: TurnInput) => turnOf(inputs, draftOf(inputs, turnInput))

const heard = (id: string): Cause => ({ kind: "envelope", lane: "mail", seq: 1, id: anEnvelopeId(id) })
const message = (id: string): Input => ({
  type: "message",
  envelope: id,
  hops: 0,
  signals: { tokenRatio: 0, mailWaiting: false }
})

/** Decides events one after the other; gives the ground of the last one. */
const inputsOf = (events: ReadonlyArray<Input>, over: Partial<Inputs> = {}): Inputs => {
  let before: Decoded = creation({ approvalMs: 5_000 }).next
  for (const event of events.slice(0, -1)) before = decide(before, event).next
  const last = events.at(-1) ?? { type: "wake" }
  return {
    before,
    decision: decide(before, last),
    version: 6,
    epoch: 3,
    now: 1_000,
    definition: "tester",
    jobs: [],
    timers: [],
    count: ({ content }) => content.length,
    tail: [],
    ...over
  }
}

const turnInput = (cause: Cause, event: Input, over: Partial<TurnInput> = {}): TurnInput => ({
  cause,
  event: event as unknown as Json,
  messages: [],
  ...over
})

const asking = jobDone("infer", { calls: [{ tool: "sink", category: "dangerous", approval: "apr_1" }] })

describe("one turn", () => {
  it("I1 I3 a message that starts a tick: the job is open under the number of the commit, nothing is settled yet", () => {
    const event = message("m-1")
    const said = { role: "user", content: "Hello?", name: "kim", at: 900 } as const
    const { entry, started, state, stopped } = turnFrom(
      inputsOf([event]),
      turnInput(heard("m-1"), event, { messages: [said] })
    )
    assert.deepInclude(entry, { no: 7, at: 1_000, epoch: 3, tick: 1, iteration: 1, status: "awake.thinking.inferring" })
    assert.deepStrictEqual(entry.messages, [{ ...said, tokens: 6 }])
    assert.notProperty(entry, "settled")
    assert.deepStrictEqual(started, [{ id: "7/infer", name: "infer", src: "infer", input: {} }])
    assert.deepStrictEqual(state.jobs, started)
    assert.deepStrictEqual(stopped, [])
    assert.deepStrictEqual(state.receives, ["control", "reply"])
    assert.strictEqual(state.definition, "tester")
  })

  it("I1 an end of a job closes it, and ends the tick with what was said last", () => {
    const open = { id: "2/infer", name: "infer", src: "infer", input: {} }
    const done = jobDone("infer", { calls: [] })
    const { entry, state, stopped } = turnFrom(
      inputsOf([message("m-1"), done], { jobs: [open], tail: [aMessage("Hello?")] }),
      turnInput({ kind: "job", id: "2/infer" }, done, {
        messages: [{ role: "assistant", content: "Good morning.", at: 1_000 }]
      })
    )
    assert.deepStrictEqual(stopped, ["2/infer"])
    assert.deepStrictEqual(state.jobs, [])
    assert.deepStrictEqual(entry.tickEnd, {
      envelope: anEnvelopeId("m-1"),
      outcome: "answered",
      iterations: 1,
      reply: "Good morning."
    })
    assert.deepStrictEqual(entry.settled, [{ id: anEnvelopeId("m-1"), outcome: "handled" }])
  })

  it("a tick that said nothing has an empty reply, whatever was said in the tick before", () => {
    const done = jobDone("infer", { calls: [] })
    const { entry } = turnFrom(
      inputsOf([message("m-1"), done], {
        tail: [aMessage("An older answer.", { role: "assistant" }), aMessage("Hello?")]
      }),
      turnInput({ kind: "job", id: "2/infer" }, done, { messages: [{ role: "assistant", content: "", at: 0 }] })
    )
    assert.strictEqual(entry.tickEnd?.reply, "")
  })

  it("a tick that failed buries its envelope with the reason, and replies nothing", () => {
    const failure = jobFailed("infer", { recovery: "tell-owner", reason: "not such words" })
    const { entry } = turnFrom(inputsOf([message("m-1"), failure]), turnInput({ kind: "job", id: "2/infer" }, failure))
    assert.deepStrictEqual(entry.settled, [{ id: anEnvelopeId("m-1"), outcome: "dead", reason: "not such words" }])
    assert.deepInclude(entry.tickEnd, { outcome: "failed", reply: "" })
  })

  it("I2 a refusal is an answer: it names the tool, and the call of the iteration that asked", () => {
    const event = { type: "approval", approval: "apr_1", decision: "denied" }
    const { entry } = turnFrom(
      inputsOf([message("m-1"), asking, event]),
      turnInput({ kind: "envelope", lane: "reply", seq: 1, id: anEnvelopeId("a-1") }, event, {
        settled: { id: anEnvelopeId("a-1"), outcome: "handled" }
      })
    )
    const [answer, ...others] = entry.messages
    assert.deepStrictEqual(others, [])
    assert.deepInclude(answer, {
      role: "tool",
      call: "1.1.0",
      name: "sink",
      content: "Refused: A person denied this call."
    })
    assert.strictEqual(entry.iteration, 2)
  })

  it("I1 timers: set by their delay from now, replaced by name, gone with their state", () => {
    const timer: OpenTimer = { name: "someone else's", dueAt: 5, event: {} }
    const asked = turnFrom(
      inputsOf([message("m-1"), asking], { timers: [timer] }),
      turnInput({ kind: "job", id: "2/infer" }, asking)
    )
    const [other, approval] = asked.state.timers
    assert.deepStrictEqual(other, timer)
    assert.deepInclude(approval, { dueAt: 6_000 })
    const event = { type: "approval", decision: "approved" }
    const { state } = turnFrom(
      inputsOf([message("m-1"), asking, event], { timers: asked.state.timers }),
      turnInput(heard("a-1"), event)
    )
    assert.deepStrictEqual(state.timers, [timer])
  })

  it("I1 what the machine emits and what a tool sends are in the entry; empty lists are not", () => {
    const sends = [anEnvelope()]
    const { entry } = turnFrom(
      inputsOf([message("m-1"), asking]),
      turnInput({ kind: "job", id: "2/infer" }, asking, { sends })
    )
    assert.deepStrictEqual(entry.sends, sends)
    assert.deepInclude(entry.emitted?.[0], { type: "approval-asked", approval: "apr_1", withinMs: 5_000 })
    const plain = turnFrom(
      inputsOf([message("m-1")]),
      turnInput(heard("m-1"), message("m-1"), { sends: [], records: [] })
    )
    for (const name of ["sends", "records", "emitted", "settled", "tickEnd", "step"])
      assert.notProperty(plain.entry, name)
  })

  it("I1 one commit may end two envelopes: the order to retire, and the tick in hand", () => {
    const retire = { type: "retire" }
    const { entry, state } = turnFrom(
      inputsOf([message("m-1"), retire]),
      turnInput({ kind: "envelope", lane: "control", seq: 1, id: anEnvelopeId("r-1") }, retire, {
        settled: { id: anEnvelopeId("r-1"), outcome: "handled" }
      })
    )
    assert.deepStrictEqual(
      entry.settled?.map(({ id, outcome }) => `${id} ${outcome}`),
      ["m-1 dead", "r-1 handled"]
    )
    assert.deepStrictEqual(state.receives, ["control", "reply", "mail"])
  })
})
