import type { Piece } from "@reverie/protocol"
import type { Entry } from "reverie"
import { assert, describe, test } from "vitest"
import type { AgUiEvent } from "../../src/ag-ui/events.ts"
import { Teller } from "../../src/ag-ui/teller.ts"
import { flawsOf, textsIn, type Told } from "./chat-rig.ts"

const ENVELOPE = "run-1"

const anEntry = (no: number, fields: Partial<Entry> = {}): Entry => ({
  v: 1,
  no,
  at: no,
  epoch: 1,
  tick: 1,
  iteration: 1,
  cause: { kind: "job", id: `${no}/infer` },
  event: null,
  status: "awake.thinking.inferring",
  messages: [],
  ...fields
})

const inferred = (no: number, content: string, ok = true): Entry =>
  anEntry(no, {
    messages: ok ? [{ role: "assistant", content, at: no, tokens: 1 }] : [],
    step: { id: `${no}/infer`, kind: "infer", name: "infer", ok, elapsedMs: 1 }
  })

const ended = (no: number, reply: string): Entry =>
  anEntry(no, {
    status: "awake.idle",
    tickEnd: { envelope: ENVELOPE as never, outcome: "answered", iterations: 1, reply },
    settled: [{ id: ENVELOPE as never, outcome: "handled" }]
  })

/** A run made of entries and pieces of replies, in their order. */
const told = (course: ReadonlyArray<Entry | string>, isTeam = false): ReadonlyArray<AgUiEvent> => {
  const teller = new Teller({ threadId: "thread", runId: ENVELOPE, envelope: ENVELOPE, isTeam })
  const events = [...teller.begin("awake.idle")]
  for (const each of course) events.push(...(typeof each === "string" ? teller.part(each) : teller.entry(each)))
  assert.isTrue(teller.isOver)
  assert.deepStrictEqual(flawsOf(events as unknown as ReadonlyArray<Told>), [])
  return events
}

const texts = (course: ReadonlyArray<Entry | string>, isTeam = false) =>
  textsIn(told(course, isTeam) as unknown as ReadonlyArray<Told>)

describe("a run that is reported", () => {
  test("T3 pieces are the beginning of what is committed; what is missing follows, what is there is not told twice", () => {
    assert.deepStrictEqual(texts(["Good ", "morn", inferred(1, "Good morning."), ended(2, "Good morning.")]), [
      "Good morning."
    ])
    assert.deepStrictEqual(texts(["Good morning.", inferred(1, "Good morning."), ended(2, "Good morning.")]), [
      "Good morning."
    ])
  })

  test("T3 pieces of an attempt that failed are closed, and the committed text comes whole", () => {
    assert.deepStrictEqual(texts(["Bad ", inferred(1, "", false), "Go", inferred(2, "Good."), ended(3, "Good.")]), [
      "Bad ",
      "Good."
    ])
    assert.deepStrictEqual(texts(["Bad ", inferred(1, "Good."), ended(2, "Good.")]), ["Bad ", "Good."])
    assert.deepStrictEqual(texts(["Bad ", ended(1, "")]), ["Bad "])
  })

  test("S1 S2 a call is reported once, as it begins; one of an attempt that was given up ends with a result that says so", () => {
    const teller = new Teller({ threadId: "thread", runId: ENVELOPE, envelope: ENVELOPE, isTeam: false })
    const events = [...teller.begin("awake.idle")]
    const show = (piece: Piece) => events.push(...teller.piece(piece, 5))
    const call = { id: "1.1.0", tool: "look", arguments: { berth: 7 } }
    const again = { id: "1.1.1", tool: "tide", arguments: {} }
    show({ kind: "reasoning", text: "Hm." })
    show({ kind: "text", text: "Six" })
    show({ kind: "call", call: "1.1.0", tool: "look" })
    show({ kind: "arguments", call: "1.1.0", text: '{"berth' })
    show({ kind: "dropped" })
    show({ kind: "text", text: "I look." })
    show({ kind: "call", call: "1.1.0", tool: "look" })
    show({ kind: "arguments", call: "1.1.0", text: '{ "berth": 7 }' })
    show({ kind: "call", call: "1.1.1", tool: "look" })
    const reply = { role: "assistant" as const, content: "I look.", at: 1, tokens: 1, calls: [call, again] }
    const result = { role: "tool" as const, content: "free", call: "1.1.0", at: 2, tokens: 1 }
    events.push(...teller.entry({ ...inferred(1, ""), messages: [reply] }))
    events.push(...teller.entry(anEntry(2, { messages: [result] })), ...teller.entry(ended(3, "I look.")))
    const seen = events as unknown as ReadonlyArray<Told>
    assert.deepStrictEqual(flawsOf(seen), [])
    assert.deepStrictEqual(textsIn(seen), ["Six", "I look."])
    const args = (id: string) =>
      seen.flatMap((event) => (event.type === "TOOL_CALL_ARGS" && event["toolCallId"] === id ? [event["delta"]] : []))
    assert.deepStrictEqual(
      seen.filter(({ type }) => type === "TOOL_CALL_RESULT").map((event) => [event["toolCallId"], event["content"]]),
      [
        ["1.1.0", "Not called: the model was asked again."],
        ["1.1.1", "Not called: the model was asked again."],
        ["1.1.0~2", "free"]
      ]
    )
    assert.deepStrictEqual([args("1.1.0~2"), args("1.1.1~2")], [['{ "berth": 7 }'], ["{}"]])
    assert.strictEqual(seen.filter(({ type }) => type === "REASONING_START").length, 1)
  })

  test("what a tool has said for the assistant is reported at the end, what was told already is not", () => {
    assert.deepStrictEqual(texts([inferred(1, "One."), inferred(2, "Two."), ended(3, "One.\n\nTwo.")]), [
      "One.",
      "Two."
    ])
    assert.deepStrictEqual(texts([inferred(1, "One."), ended(2, "Spoken aloud.")]), ["One.", "Spoken aloud."])
  })

  test("T2 after the end of a run nothing more is reported", () => {
    const teller = new Teller({ threadId: "thread", runId: ENVELOPE, envelope: ENVELOPE, isTeam: false })
    teller.begin("awake.idle")
    teller.entry(ended(1, "Good."))
    const later = [
      teller.part("more"),
      teller.entry(inferred(2, "More.")),
      teller.failed("no", "failed"),
      teller.caughtUp("halted", [])
    ]
    assert.deepStrictEqual(later.flat(), [])
  })

  test("the end of a team's run is its answer, whatever its ticks do", () => {
    const answered = (text: string, outcome: string): Entry =>
      anEntry(5, { emitted: [{ type: "answered", envelope: ENVELOPE, outcome, text }] })
    assert.deepStrictEqual(texts([ended(1, ""), answered("We agree.", "answered")], true), ["We agree."])
    const failed = told([ended(1, ""), answered("No one answered.", "failed")], true).at(-1)
    assert.deepInclude(failed, { type: "RUN_ERROR", message: "No one answered." })
  })

  test("a model that is away is said with its server, and ends no run", () => {
    const away = { type: "model-away", server: "models.example:8443", reason: "ModelUnavailable: ECONNREFUSED" }
    const events = told([anEntry(1, { emitted: [away] }), ended(2, "Back.")])
    const custom = events.find(({ type }) => type === "CUSTOM")
    assert.deepInclude(custom, { name: "reverie.model-away", value: away })
    assert.deepInclude(events.at(-1), { type: "RUN_FINISHED" })
  })

  test("what was only overheard has ended, dead letters has failed", () => {
    const settled = (outcome: "handled" | "dead" | "ignored", reason: string): Entry =>
      anEntry(1, { settled: [{ id: ENVELOPE as never, outcome, reason }] })
    assert.deepInclude(told([settled("handled", "ambientMessages")]).at(-1), {
      result: { outcome: "noted", reply: "" }
    })
    assert.deepInclude(told([settled("dead", "poison")]).at(-1), { type: "RUN_ERROR", message: "poison", code: "dead" })
    assert.deepInclude(told([settled("ignored", "late")]).at(-1), { type: "RUN_ERROR", code: "ignored" })
  })

  test("the tokens of every model call stand at the end, model by model", () => {
    const step = (model: string, inputTokens: number) => ({
      step: {
        id: "1/infer",
        kind: "infer" as const,
        name: "infer",
        ok: true,
        elapsedMs: 1,
        usage: { inputTokens, outputTokens: 2, source: "provider" as const },
        detail: { model }
      }
    })
    const course = [
      anEntry(1, step("small", 10)),
      anEntry(2, step("small", 5)),
      anEntry(3, step("large", 1)),
      ended(4, "")
    ]
    const usage = Reflect.get(told(course).at(-1) ?? {}, "usage")
    assert.deepStrictEqual(usage, [
      { model: "small", inputTokens: 15, outputTokens: 4, totalTokens: 19 },
      { model: "large", inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    ])
  })
})
