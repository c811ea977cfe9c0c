import { assert, describe, it } from "@effect/vitest"
import { creation } from "@reverie/assistant"
import type { AcceptedEnvelope, Json, RecordRow } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { anAddress, anEnvelope, anEnvelopeId } from "@reverie/testkit"
import type { CommitDraft } from "../src/commit/commit-draft.ts"
import type { CommitView } from "../src/commit/commit-view.ts"
import { planned } from "../src/commit/tick.ts"
import { contributed } from "../src/intake/skip-rules.ts"
import { openOwnRecords, recordsOf } from "../src/session/own-records.ts"
import type { Session } from "../src/session/session.ts"

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const decision = { next: creation({}).next, commands: [] }

const question: AcceptedEnvelope = {
  ...anEnvelope({ id: "q-1", from: "assistant:bo", event: { type: "message", text: "How many?", wantsAnswer: true } }),
  lane: "mail",
  seq: 1,
  acceptedAt: 5
}

/** What contributors read of a session, frozen: a write to a field of it throws. */
const aSession = (rows: ReadonlyArray<RecordRow> = []): Session =>
  Object.freeze({
    address: anAddress(),
    definition: Object.freeze({}),
    own: Object.freeze(openOwnRecords(rows)),
    decoded: decision.next,
    trace: Object.freeze({ span: undefined, carried: TRACE, startedAt: undefined })
  }) as unknown as Session

const viewOf = (session: Session, over: Partial<CommitView> = {}): CommitView => ({
  session,
  arrival: undefined,
  now: 0,
  isTaken: false,
  tail: [],
  ...over
})

const aDraft = (over: Partial<CommitDraft> = {}): CommitDraft =>
  Object.freeze({
    no: 2,
    cause: { kind: "envelope" as const, lane: "mail" as const, seq: 1, id: anEnvelopeId("q-1") },
    event: null,
    status: "awake.idle",
    messages: [],
    timers: [],
    ...over
  })

const settled = [{ id: anEnvelopeId("q-1"), outcome: "handled" as const }]
const tickEnd = { envelope: anEnvelopeId("q-1"), outcome: "answered" as const, iterations: 1, reply: "Nine." }

describe("what a commit contains", () => {
  it("D1 D2 a message that is taken and settled by one commit is recorded, answered and done, and the session is as before", () => {
    const session = aSession()
    const before = aDraft({ settled, tickEnd })
    const { records = [], sends = [] } = contributed(
      before,
      decision,
      viewOf(session, { arrival: question, isTaken: true })
    )
    assert.deepStrictEqual(
      records.map(({ key, kind, value }) => [kind, key, value === null]),
      [
        ["replies", "in-hand", false],
        ["replies", "in-hand", true]
      ]
    )
    assert.deepInclude(sends[0]?.event, { text: "Nine.", answers: { envelope: "q-1", outcome: "answered" } })
    assert.strictEqual(sends[0]?.traceparent, TRACE)
    assert.strictEqual(recordsOf(session.own, "replies").size, 0)
  })

  it("D2 the message of an earlier commit is answered by the one that settles it", () => {
    const inHand = { envelope: "q-1", from: "assistant:bo", hops: 0, wantsAnswer: true } as unknown as Json
    const session = aSession([{ kind: "replies", key: "in-hand", value: inHand }])
    const cause = { kind: "job" as const, id: "1/infer" }
    const { records, sends = [] } = contributed(aDraft({ cause, settled, tickEnd }), decision, viewOf(session))
    assert.deepStrictEqual(records, [{ kind: "replies", key: "in-hand", value: null }])
    assert.strictEqual(sends.length, 1)
    assert.strictEqual(recordsOf(session.own, "replies").size, 1)
  })

  it("a message whose tick a person stopped is answered once, as failed; that of a team as well", () => {
    const inHand = { envelope: "q-1", from: "assistant:bo", hops: 0, wantsAnswer: true } as unknown as Json
    const alone = aSession([{ kind: "replies", key: "in-hand", value: inHand }])
    const team = { ...alone, definition: { team: {} } } as unknown as Session
    const stopped = { ...tickEnd, outcome: "stopped" as const, reply: "" }
    const cause = { kind: "envelope" as const, lane: "control" as const, seq: 1, id: anEnvelopeId("s-1") }
    for (const session of [alone, team]) {
      const { sends = [] } = contributed(aDraft({ cause, settled, tickEnd: stopped }), decision, viewOf(session))
      assert.deepStrictEqual(
        sends.map(({ event }) => event),
        [
          {
            type: "message",
            text: "a person stopped it",
            answers: { envelope: anEnvelopeId("q-1"), outcome: "failed" }
          }
        ]
      )
    }
  })

  it("D1 a message that is skipped or ignored is recorded nowhere; who waits for its answer gets one", () => {
    const ignored = [{ id: anEnvelopeId("q-1"), outcome: "ignored" as const, reason: "no" }]
    const { records, sends = [] } = contributed(
      aDraft({ settled: ignored }),
      decision,
      viewOf(aSession(), { arrival: question })
    )
    assert.isUndefined(records)
    assert.deepInclude(sends[0]?.event, { answers: { envelope: "q-1", outcome: "silent" } })
  })

  it("D1 where nothing is to be added, the draft stays as it is", () => {
    const draft = aDraft()
    assert.deepStrictEqual(contributed(draft, decision, viewOf(aSession())), draft)
  })

  it("I4 a commit is a value: made without any service, twice the same, and the session is as before", () => {
    const session = Object.freeze({
      ...aSession(),
      definition: Object.freeze({ name: "tester" }),
      claim: Object.freeze({ epoch: 7 }),
      window: Object.freeze({ messages: Object.freeze([]) }),
      version: 3,
      jobs: Object.freeze([]),
      timers: Object.freeze([]),
      count: () => 5,
      inSlices: <A>(work: () => A) => Effect.sync(work)
    }) as unknown as Session
    const turnInput = {
      cause: { kind: "envelope" as const, lane: "mail" as const, seq: 1, id: anEnvelopeId("q-1") },
      event: null,
      messages: [{ role: "user" as const, content: "How many?", at: 5 }],
      settled: { id: anEnvelopeId("q-1"), outcome: "handled" as const }
    }
    // The type of `planned` has no service and no failure: `runSync` takes it as it is.
    const plan = () => Effect.runSync(planned(session, decision, turnInput, 9, { arrival: question, isTaken: true }))
    const turn = plan()
    assert.deepInclude(turn.entry, { no: 4, epoch: 7, at: 9 })
    assert.deepInclude(turn.entry.sends?.[0]?.event, { answers: { envelope: "q-1", outcome: "silent" } })
    assert.deepStrictEqual(plan(), turn)
    assert.strictEqual(recordsOf(session.own, "replies").size, 0)
  })
})
