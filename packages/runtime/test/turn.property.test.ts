import { assert, describe, it } from "@effect/vitest"
import { creation, contextOf, decide, receives, type Input, persist, statusOf } from "@reverie/assistant"
import { LANES } from "@reverie/protocol"
import * as fc from "fast-check"
import { aLife, childrenOf, type Life, timerOf, type Walk, walk } from "./walk.ts"

const RUNS = { numRuns: 150 }

const always = (holds: (walked: Walk) => void) =>
  fc.assert(
    fc.property(aLife, (life: Life) => holds(walk(life))),
    RUNS
  )

/** Messages in the order of the record. */
const historyOf = ({ entries }: Walk) => entries.flatMap(({ messages }) => messages)

describe("any life, turn by turn", () => {
  it("the walks go far: over all of them nearly every state is passed, and most commits bring something", () => {
    const seen = new Set<string>()
    let commits = 0
    for (const life of fc.sample(aLife, { numRuns: 300, seed: 1 })) {
      const walked = walk(life)
      commits += walked.entries.length
      for (const { status } of walked.entries) seen.add(status)
    }
    assert.isAbove(commits, 5_000)
    assert.includeMembers(
      [...seen],
      [
        "awake.idle",
        "awake.thinking.inferring",
        "awake.thinking.parked",
        "awake.acting.running",
        "awake.awaitingApproval",
        "awake.awaitingReports",
        "awake.assessing.weighing",
        "dreaming.resting",
        "halted",
        "retired"
      ]
    )
  })

  it("I1 the jobs on record are exactly those the machine has open, and their timers those its state runs by", () => {
    always(({ moments }) => {
      for (const { after, turn } of moments) {
        assert.deepStrictEqual(turn.state.jobs.map(({ name }) => name).toSorted(), childrenOf(after))
        assert.deepStrictEqual(
          turn.state.timers.map(({ name }) => name),
          timerOf(after)
        )
      }
    })
  })

  it("I1 what a turn started and stopped is the difference of the jobs before and after", () => {
    always(({ moments }) => {
      let open: ReadonlyArray<string> = []
      for (const { turn } of moments) {
        const started = turn.started.map(({ id }) => id)
        assert.deepStrictEqual(
          [...open.filter((id) => !turn.stopped.includes(id)), ...started].toSorted(),
          turn.state.jobs.map(({ id }) => id).toSorted()
        )
        for (const id of turn.stopped) assert.include(open, id)
        open = turn.state.jobs.map(({ id }) => id)
      }
    })
  })

  it("I2 every tool call has one tool message at most, after it, and exactly one once its iteration is over", () => {
    always((walked) => {
      const asked = new Set<string>()
      const answered = new Set<string>()
      for (const { call, calls = [] } of historyOf(walked)) {
        for (const { id } of calls) {
          assert.isFalse(asked.has(id), `${id} was asked twice`)
          asked.add(id)
        }
        if (call === undefined) continue
        assert.isTrue(asked.has(call), `${call} was answered and never asked`)
        assert.isFalse(answered.has(call), `${call} was answered twice`)
        answered.add(call)
      }
      const { calls, iteration, tick } = contextOf(walked.decoded)
      const open = calls.length === 0 ? "none" : `${tick}.${iteration}.`
      assert.deepStrictEqual(
        [...asked].filter((id) => !answered.has(id) && !id.startsWith(open)),
        []
      )
    })
  })

  it("I3 a job id is `<commit>/<name>` of the commit that started it, and is never used again", () => {
    always(({ moments }) => {
      const used = new Set<string>()
      for (const { turn } of moments) {
        for (const { id, name } of turn.started) {
          assert.strictEqual(id, `${turn.entry.no}/${name}`)
          assert.isFalse(used.has(id))
          used.add(id)
        }
      }
    })
  })

  it("I1 of the entry: replaying the recorded events over the creation gives the stored snapshot, byte for byte", () => {
    always(({ entries, moments, settings }) => {
      let compacted = creation(settings).next
      for (const { event } of entries) compacted = decide(compacted, event as unknown as Input).next
      const stored = moments.at(-1)?.turn.state.snapshot ?? persist(creation(settings).next)
      assert.strictEqual(JSON.stringify(persist(compacted)), JSON.stringify(stored))
    })
  })

  it("I1 state and entry agree with the machine: number, tick, iteration, status, and what is heard", () => {
    always(({ moments }) => {
      let no = 1
      for (const { after, turn } of moments) {
        const { iteration, tick } = contextOf(after)
        assert.deepInclude(turn.entry, { no: ++no, tick, iteration, status: statusOf(after) })
        assert.strictEqual(turn.state.status, turn.entry.status)
        assert.deepStrictEqual(
          [...turn.state.receives],
          turn.entry.status === "retired" ? [...LANES] : [...receives(after)]
        )
      }
    })
  })

  it("every mail that was taken up settles once, with the end of its tick; everything else with its own commit", () => {
    always(({ decoded, entries }) => {
      const settled = entries.flatMap((entry) => entry.settled ?? []).map(({ id }) => id)
      assert.strictEqual(new Set(settled).size, settled.length)
      const heard = entries.flatMap(({ cause }) => (cause.kind === "envelope" ? [cause.id] : []))
      const inHand = contextOf(decoded).envelope
      assert.deepStrictEqual(
        heard.filter((id) => !settled.includes(id)),
        heard.filter((id) => id === inHand)
      )
      for (const { settled: ended = [], tickEnd } of entries) {
        if (tickEnd !== undefined)
          assert.include(
            ended.map(({ id }) => id),
            tickEnd.envelope
          )
      }
    })
  })

  it("a reply was said in its own tick: by the assistant, or by a tool that ends the loop", () => {
    always(({ entries }) => {
      let tick: Array<{ readonly role: string; readonly content: string; readonly name?: string }> = []
      for (const { messages, tickEnd } of entries) {
        if (messages.some(({ role }) => role === "user")) tick = []
        tick.push(...messages)
        if (tickEnd === undefined || tickEnd.reply === "") continue
        const role = tickEnd.outcome === "terminal" ? "tool" : "assistant"
        assert.isTrue(tick.some((message) => message.role === role && message.content === tickEnd.reply))
        assert.notInclude(["failed", "slept"], tickEnd.outcome)
      }
    })
  })
})
