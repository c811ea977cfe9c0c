import { assert, describe, it } from "@effect/vitest"
import type { OpenJob } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  beside,
  type JobKind,
  MAX_LOST,
  noteOf,
  pauseMillis,
  stillTrying,
  SUSPECT_AFTER,
  suspicionOf,
  timesOf,
  TOOL_TRIES_BESIDE,
  tried,
  triesIn,
  LEASE_SESSION,
  verdictOnEvent,
  verdictOnJob,
  withLost
} from "../../src/blame/suspicion.ts"

const kinds: ReadonlyArray<JobKind> = ["tool", "step", "model", "safe"]
const job = (over: Partial<OpenJob> = {}): OpenJob => ({ id: "3/x", name: "x", src: "tool", input: {}, ...over })
const counts = fc.nat({ max: 40 })
const subjects = fc.constantFrom("3/x", "end 3/x", "mail 7", LEASE_SESSION)
const notes = fc.dictionary(subjects, fc.nat({ max: 9 }))

/** One life after the other in which a holder is lost with the same job in hand; answers after how many it was convicted. */
const lossesUntilConviction = (kind: JobKind, most: number): number | undefined => {
  let note: string | undefined
  for (let lost = 1; lost <= most; lost++) {
    const suspicion = suspicionOf({ attempts: lost + 1, ...(note === undefined ? {} : { note }) })
    const [found] = withLost([job()], suspicion)
    const verdict = verdictOnJob(found ?? job(), kind)
    if (verdict === "convict") return lost
    if (verdict !== "go") note = noteOf(tried(suspicion.tries, "3/x"))
  }
  return undefined
}

describe("suspicion", () => {
  it("B2 B3 B4 a tool is convicted by the third loss, a step by the sixth, a model call and what is safe by none", () => {
    assert.deepStrictEqual(
      kinds.map((kind) => lossesUntilConviction(kind, 1_000)),
      [3, 6, undefined, undefined]
    )
  })

  it("B1 without lost holders nothing is suspect, whatever kind it is", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.integer({ min: 0, max: SUSPECT_AFTER - 1 }),
        subjects,
        (kind, lost, subject) => {
          const suspicion = suspicionOf({ attempts: lost + 1 })
          const [found] = withLost([job()], suspicion)
          assert.strictEqual(verdictOnJob(found ?? job(), kind), "go")
          assert.strictEqual(verdictOnEvent(subject, suspicion), "go")
          assert.strictEqual(pauseMillis(suspicion, [job()]), 0)
        }
      )
    )
  })

  it("B1 B2 losses alone convict no tool, however many: it may have waited for its turn in all of them", () => {
    fc.assert(
      fc.property(counts, (lost) => {
        assert.strictEqual(verdictOnJob(job({ lost }), "tool"), lost >= SUSPECT_AFTER ? "alone" : "go")
      })
    )
  })

  it("B2 a tool that is always tried beside others is convicted by the eighth of these trials, and no earlier", () => {
    fc.assert(
      fc.property(fc.nat({ max: 20 }), (times) => {
        const [found] = withLost([job()], { lost: 12, tries: new Map([[beside("3/x"), times]]) })
        assert.strictEqual(verdictOnJob(found ?? job(), "tool") === "convict", times >= TOOL_TRIES_BESIDE)
      })
    )
  })

  it("B2 losses are kept over commits that leave the job open: they add up", () => {
    fc.assert(
      fc.property(fc.array(counts), (losses) => {
        const [last] = losses.reduce<ReadonlyArray<OpenJob>>(
          (jobs, lost) => withLost(jobs, suspicionOf({ attempts: lost + 1 })),
          [job()]
        )
        assert.strictEqual(
          last?.lost ?? 0,
          losses.reduce((sum, lost) => sum + lost, 0)
        )
      })
    )
  })

  it("B5 an event is convicted by the third loss under suspicion, and noted before that", () => {
    fc.assert(
      fc.property(fc.integer({ min: SUSPECT_AFTER, max: 40 }), fc.nat({ max: 9 }), (lost, times) => {
        const suspicion = { lost, tries: new Map([["mail 7", times]]) }
        assert.strictEqual(verdictOnEvent("mail 7", suspicion), times >= 3 ? "convict" : "note")
        assert.strictEqual(verdictOnEvent("mail 8", suspicion), "note")
      })
    )
  })

  it("B6 a burst of kills, however long, finds no event in hand often enough: the pause outgrows what is between them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_999 }), fc.integer({ min: 1, max: 500 }), (betweenMillis, kills) => {
        let note: string | undefined
        for (let lost = SUSPECT_AFTER; lost < kills; lost++) {
          const suspicion = suspicionOf({ attempts: lost + 1, ...(note === undefined ? {} : { note }) })
          // A life that is killed in its pause begins nothing. The worst case is one that has an event in hand each time.
          if (pauseMillis(suspicion, []) >= betweenMillis) continue
          assert.notStrictEqual(verdictOnEvent("mail 7", suspicion), "convict")
          note = noteOf(tried(tried(suspicion.tries, LEASE_SESSION), "mail 7"))
        }
      })
    )
  })

  it("B6 the pause doubles with each loss after it, from a second on, and ends growing at five minutes", () => {
    const pauses = Array.from({ length: 12 }, (_, times) =>
      pauseMillis({ lost: 9, tries: new Map([[LEASE_SESSION, times]]) }, [])
    )
    assert.deepStrictEqual(pauses.slice(0, 5), [0, 1_000, 2_000, 4_000, 8_000])
    assert.deepStrictEqual(pauses.slice(-2), [300_000, 300_000])
  })

  it("B6 where a tool is open there is no pause, until it is convicted in any case", () => {
    const tries = new Map([[LEASE_SESSION, 5]])
    assert.strictEqual(pauseMillis({ lost: MAX_LOST - 1, tries }, [job()]), 0)
    assert.strictEqual(pauseMillis({ lost: MAX_LOST, tries }, [job()]), 16_000)
    assert.strictEqual(pauseMillis({ lost: SUSPECT_AFTER, tries }, [job({ src: "infer" })]), 16_000)
  })

  it("a note is read as it was written, and anything else as none", () => {
    fc.assert(
      fc.property(notes, subjects, (note, subject) => {
        const tries = triesIn(JSON.stringify(note))
        assert.deepStrictEqual(Object.fromEntries(triesIn(noteOf(tries))), note)
        assert.strictEqual(timesOf(tried(tries, subject), subject), (note[subject] ?? 0) + 1)
      })
    )
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => triesIn(text) instanceof Map))
    for (const text of ["", "[1]", '{"a":-1}', '{"a":"1"}', "null", '{"a":1.5}'])
      assert.strictEqual(triesIn(text).size, 0)
  })

  it("B2 what runs under suspicion goes on doing so after a commit", () => {
    assert.deepStrictEqual(stillTrying(["3/x"]), { lost: 0, tries: new Map([["3/x", 1]]) })
    const [found] = withLost([job({ lost: 2 })], suspicionOf({ attempts: 2, note: noteOf(stillTrying(["3/x"]).tries) }))
    assert.strictEqual(verdictOnJob(found ?? job(), "tool"), "convict")
  })
})
