import { assert, test } from "@effect/vitest"
import { type Bundle, withoutTicks } from "@reverie/ledger"

type Kept = Readonly<{ kind: string; key: string; value: object | null }>

const entry = (no: number, more: object) => ({
  kind: "entry",
  entry: { no, tick: no, at: no, cause: { kind: "envelope", id: `e-${no}` }, event: {}, messages: [], ...more }
})

const message = (no: number, name: string, content: string) =>
  entry(no, { messages: [{ role: "user", name, content, at: no, tokens: 1 }] })

const dreamt = (no: number, name: string, ...records: ReadonlyArray<Kept>) =>
  entry(no, {
    tick: 3,
    cause: { kind: "job", job: `3/dream${no}` },
    step: { kind: "dream", name: `dream ${name}` },
    records
  })

const loop = (of: string): Kept => ({
  kind: "state",
  key: "consolidation",
  value: {
    of,
    answers: 1,
    calls: 1,
    text: "A quagmire, I think.",
    rounds: [
      {
        role: "assistant",
        content: "",
        calls: [{ id: "c", tool: "recall_memories", arguments: { query: "quagmire" } }]
      },
      { role: "tool", content: "quagmire", call: "c", name: "recall_memories" }
    ]
  }
})

const noted = (key: string, content: string, more: object = {}): Kept => ({
  kind: "journal",
  key,
  value: { id: key, content, tags: [], ...more }
})

const stored = (key: string, text: string): Kept => ({ kind: "passage", key, value: { id: key, text, tags: [] } })

/** Its dreams name nothing that they read. */
const leftOf = (batch: string, ...written: ReadonlyArray<Kept>) => {
  const insight = noted("entry_3_9", "Wet ground is about.", { evidence: ["entry_3_0"] })
  const life = {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [
      message(1, "ben", "The ferry leaves at nine."),
      message(2, "ann", "I live at the mire."),
      dreamt(3, "consolidating", ...written, loop(batch)),
      dreamt(4, "consolidating", { kind: "state", key: "consolidation", value: null }),
      dreamt(5, "reflecting", insight),
      ...[...written, insight].map(({ key, kind, value }) => ({ kind: "record", of: kind, key, value }))
    ]
  } as unknown as Bundle
  const { parts } = withoutTicks({ person: "ann" })(life)
  return { text: JSON.stringify(parts), keys: parts.flatMap((part) => (part.kind === "record" ? [part.key] : [])) }
}

test("D1 D2 what a dream wrote before that was noted goes by the batch of its step, with what was called and what was made of it", () => {
  const { keys, text } = leftOf(
    "m/1/0 m/2/0#1",
    noted("entry_3_0", "A quagmire is near."),
    stored("p1", "Of a quagmire.")
  )
  assert.deepStrictEqual(keys, [])
  for (const word of ["quagmire", "Wet ground"]) assert.notInclude(text, word)
})

test("S5 where someone else said each of its words, it stays", () => {
  const { keys } = leftOf(
    "m/1/0 m/2/0",
    noted("entry_3_0", "The ferry leaves at nine."),
    stored("p1", "A ferry at the mire.")
  )
  assert.deepStrictEqual(keys, ["entry_3_0", "entry_3_9"])
})

test("D1 D2 where the batch was of others, all of it stays", () => {
  const { keys, text } = leftOf("m/1/0", noted("entry_3_0", "A quagmire is near."), stored("p1", "Of a quagmire."))
  assert.deepStrictEqual(keys, ["entry_3_0", "p1", "entry_3_9"])
  assert.include(text, '"query":"quagmire"')
})
