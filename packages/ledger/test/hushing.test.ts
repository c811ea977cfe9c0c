import { assert, test } from "@effect/vitest"
import { type Bundle, withoutTicks } from "@reverie/ledger"
import { hushedEntry } from "../src/forgetting/hushing.ts"

test("U1 U2 of an entry stay numbers, references and names of kinds; under no name does a word stay further inside", () => {
  const word = "kestrel"
  const told = { name: word, id: word, type: word, model: word, list: [{ kind: word, text: word }] }
  const entry = {
    no: 7,
    event: { type: "xstate.done.actor.tool.0", actorId: "tool.0" },
    messages: [
      {
        role: "assistant",
        content: word,
        rejected: word,
        at: 1,
        calls: [{ id: "2.1.0", tool: "look", arguments: told }]
      }
    ],
    step: { id: "5/tool.0", kind: "tool", name: "look", ok: true, detail: { model: "small", asked: told } },
    hooks: [{ point: "before", did: "refused", call: "2.1.9", before: told }],
    emitted: [
      { type: "shown", what: told },
      { type: "approval-asked", approval: "apr_1", tool: "pay", call: "2.1.1", withinMs: 5 }
    ],
    sends: [{ id: "s-1", from: "desk", event: { type: "message", text: word, more: told } }],
    tickEnd: {
      outcome: "answered",
      envelope: "e-1",
      reply: word,
      output: told,
      misfit: word,
      refusal: word,
      parts: [told]
    }
  }
  const left = hushedEntry(entry)
  assert.notInclude(JSON.stringify(left), word)
  assert.deepInclude(left as object, { no: 7, event: entry.event })
  for (const kept of [
    "2.1.0",
    "look",
    "refused",
    "2.1.9",
    "apr_1",
    "pay",
    "2.1.1",
    "5/tool.0",
    "small",
    "before",
    "shown",
    "s-1",
    "desk",
    "answered",
    "e-1"
  ]) {
    assert.include(JSON.stringify(left), `"${kept}"`)
  }
})

test("K3 what was called to mind goes with the tick, and what others said of it stays", () => {
  const known = "Otto has a red lantern."
  const fact = { kind: "fact", key: "f1", value: { id: "f1", text: known, sources: ["m/1/0"], entities: ["Otto"] } }
  const shown = { kind: "shown", key: "m/2/0", value: { lines: [known] } }
  const entry = (no: number, name: string, content: string, record: object) => ({
    kind: "entry",
    entry: {
      no,
      tick: no,
      at: no,
      cause: { kind: "envelope", id: `e-${no}` },
      event: {},
      messages: [{ role: "user", name, content, at: no, tokens: 1 }],
      records: [record]
    }
  })
  const record = ({ key, kind, value }: typeof fact | typeof shown) => ({ kind: "record", of: kind, key, value })
  const life = {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [
      entry(1, "ben", "My brother has one.", fact),
      entry(2, "ann", "And Otto?", shown),
      record(fact),
      record(shown)
    ]
  } as unknown as Bundle
  const { parts } = withoutTicks({ person: "Ann" })(life)
  assert.deepStrictEqual(
    parts.filter(({ kind }) => kind === "record"),
    [record(fact)] as never
  )
  assert.notInclude(JSON.stringify(parts), "And Otto")
})
