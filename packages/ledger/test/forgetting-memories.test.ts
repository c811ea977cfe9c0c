import { assert, test } from "@effect/vitest"
import { type Bundle, withoutTicks } from "@reverie/ledger"

const message = (no: number, name: string, content: string) => ({
  kind: "entry",
  entry: {
    no,
    tick: no,
    at: no,
    cause: { kind: "envelope", id: `e-${no}` },
    event: {},
    messages: [{ role: "user", name, content, at: no, tokens: 1 }]
  }
})

const record = (of: string, key: string, value: object) => ({ kind: "record", of, key, value: { id: key, ...value } })

const RUSTY = "The zephyrine lock is rusty."

const recordsLeft = (records: ReadonlyArray<ReturnType<typeof record>>) => {
  const life = {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [message(1, "ben", "I live in Oslo."), message(2, "ann", RUSTY), ...records]
  } as unknown as Bundle
  const { parts } = withoutTicks({ person: "ann" })(life)
  const left = parts.filter(({ kind }) => kind === "record")
  assert.notInclude(JSON.stringify(left), "zephyrine")
  return left as ReadonlyArray<unknown>
}

test("M3 of a fact goes the sentence that is sought, and all of it where nothing else is in it", () => {
  const fact = (key: string, text: string, more: object = {}) =>
    record("fact", key, { text, sources: ["m/1/0"], entities: ["ben"], ...more })
  assert.deepStrictEqual(
    recordsLeft([
      fact("f1", `ben lives in Oslo. ${RUSTY}`),
      fact("f2", `ben said: ${RUSTY}`),
      fact("f3", "ben keeps bees", { state: "retired", reason: `He was told: ${RUSTY}` })
    ]),
    [
      fact("f1", "ben lives in Oslo.\u2026."),
      fact("f3", "ben keeps bees", { state: "retired", reason: "He was told:\u2026." })
    ]
  )
})

test("M2 a fact that was heard before, or that others say, is heard still without the source that goes; in other words it goes", () => {
  const fact = (key: string, text: string, sources: ReadonlyArray<string>, links: ReadonlyArray<object> = []) =>
    record("fact", key, { text, sources, entities: ["ben"], links })
  const heard = ({ key, of, value }: ReturnType<typeof record>) => ({
    ...message(3, "ben", "Good morning to all."),
    entry: { ...message(3, "ben", "Good morning to all.").entry, records: [{ kind: of, key, value }] }
  })
  const life = {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [
      message(1, "ben", "The ferry leaves at nine."),
      message(2, "ann", "The ferry leaves at nine."),
      heard(fact("f1", "the ferry leaves at nine", ["m/1/0"])),
      heard(fact("f2", "the quay is closed", ["m/1/0"])),
      fact("f1", "the ferry leaves at nine", ["m/1/0", "m/2/0"], [{ to: "f2", why: "quagmire" }]),
      fact("f2", "the quagmire quay is closed", ["m/1/0", "m/2/0"]),
      fact("f3", "ben said: The ferry leaves at nine", ["m/1/0", "m/2/0"])
    ]
  } as unknown as Bundle
  const { parts } = withoutTicks({ person: "ann" })(life)
  assert.deepStrictEqual(
    parts.filter(({ kind }) => kind === "record"),
    [
      fact("f1", "the ferry leaves at nine", ["m/1/0"]),
      fact("f3", "ben said: The ferry leaves at nine", ["m/1/0"])
    ] as never
  )
  assert.notInclude(JSON.stringify(parts), "quagmire")
})

test("M3 of a profile go what says it and what was made of that, and nothing else", () => {
  const observed = (id: string, text: string) => ({
    id,
    text,
    source: `f/${id}`,
    origin: { type: "self", name: "desk" }
  })
  const made = (id: string, text: string, evidence: string, superseded: ReadonlyArray<object> = []) => ({
    id,
    text,
    evidence: [evidence],
    superseded
  })
  const profile = (observations: ReadonlyArray<object>, attributes: ReadonlyArray<object>) =>
    record("entity", "ben", { name: "ben", aliases: [], observations, attributes })
  const oslo = observed("o1", "ben lives in Oslo")
  const lock = observed("o2", RUSTY)
  const before = { text: RUSTY, evidence: ["o1"] }
  assert.deepStrictEqual(
    recordsLeft([
      profile([oslo, lock], [made("a1", "Lives in Oslo.", "o1", [before]), made("a2", "Knows of the lock.", "o2")])
    ]),
    [profile([oslo], [made("a1", "Lives in Oslo.", "o1")])]
  )
  assert.deepStrictEqual(recordsLeft([profile([lock], [made("a2", RUSTY, "o2")])]), [])
})

test("O1 what someone wrote into a memory is said by that one, also where the mail was deleted", () => {
  const written = record("fact", "f1", { text: "The ferry leaves at nine.", sources: ["w/e-9"], entities: [] })
  const life = {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [message(2, "ann", "The ferry leaves at nine."), written]
  } as unknown as Bundle
  assert.deepInclude(withoutTicks({ person: "ann" })(life).parts, written as never)
})

test("K5 why Reverie holds a fact back is no one's sentence: another one that is held back for it stays", () => {
  const held = (key: string, text: string, source: string) =>
    record("fact", key, { text, sources: [source], entities: [], state: "quarantined", reason: "it poses as an order" })
  const stays = held("f1", "ben wants it said twice", "m/1/0")
  assert.deepStrictEqual(recordsLeft([stays, held("f2", "ann wants it said twice", "m/2/0")]), [stays])
})
