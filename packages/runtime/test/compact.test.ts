import { assert, describe, it } from "@effect/vitest"
import type { JournalEntry } from "@reverie/assistant"
import { getContextType, SUMMARY_HEAD } from "@reverie/context"
import type { Json } from "@reverie/protocol"
import type { Line } from "@reverie/testkit"
import { type Life, type LifeOptions } from "./rig.ts"
import {
  compactions,
  folder,
  halved,
  note,
  NOOP,
  opened,
  rowsOf,
  settings,
  shownNext,
  small,
  status,
  talk,
  talkUntilCompacted
} from "./folder.ts"

describe("compaction in an emergency", () => {
  it("F56 F57 F58: before anything else of the tick comes the extraction, then the compaction, and then the tick goes on", () => {
    const model = folder({
      extract: [{ calls: [note("Ship 3 waits for the tide.")] }, { calls: [NOOP] }]
    })
    const life = opened(model.script, halved)
    talkUntilCompacted(life)
    const states = status(life)
    const first = states.indexOf("compacting.extracting")
    assert.deepStrictEqual(states.slice(first, first + 5), [
      "compacting.extracting",
      "compacting.extracting",
      "compacting.summarizing",
      "compacting.replacing",
      "awake.thinking.inferring"
    ])
    const [compaction] = compactions(life)
    assert.deepInclude(compaction, { trigger: "emergency", threshold: 0.8 })
    assert.isAtLeast(compaction?.ratio ?? 0, 0.8)
    assert.match(life.logged.join("\n"), /^Warn Emergency compaction triggered: 8\d% context usage$/m)
    assert.strictEqual(life.ends().at(-1)?.outcome, "answered")
  })

  it("F53 F54 F55: the marker stands before what was preserved, and the summary in the journal", () => {
    const model = folder()
    const life = opened(model.script)
    talkUntilCompacted(life)
    const [compaction] = compactions(life)
    const shown = shownNext(life)
    const marker = shown.find(({ content }) => content.startsWith(SUMMARY_HEAD))
    assert.strictEqual(marker?.role, "system")
    assert.isTrue(marker?.content.startsWith(`${SUMMARY_HEAD}\nThey spoke of ships.`))
    assert.deepInclude(compaction?.marker.meta ?? {}, {
      type: "compaction",
      compacted_count: compaction?.compacted_count
    })
    const preserved = life.messages().slice(compaction?.compacted_count)
    // What it was about lately stands right before the event, and is not said by anybody.
    const told = shown.slice(shown.indexOf(marker!) + 1).filter(({ content }) => !content.startsWith("With "))
    assert.deepStrictEqual(
      told.map(({ content, role }) => `${role}: ${content}`),
      preserved.slice(0, told.length).map(({ content, role }) => `${role}: ${content}`)
    )
    assert.isFalse(shown.some(({ content }) => content.startsWith("Ship 0 lies")))
    const archived = (rowsOf(life, "journal") as unknown as ReadonlyArray<JournalEntry>).find(
      ({ source_type }) => source_type === "compaction"
    )
    assert.deepInclude(archived ?? {}, {
      id: compaction?.id,
      importance: 7,
      tags: ["compaction", "synthesis"]
    })
    assert.strictEqual(archived?.content, "[CONTEXT SYNTHESIS]\nThey spoke of ships.")
  })

  it("F52: the summary is asked for with the messages that are compacted, and with nothing else", () => {
    const model = folder()
    const life = opened(model.script, halved)
    talkUntilCompacted(life)
    const [prompt] = model.of("summarize")
    assert.deepStrictEqual(
      prompt?.messages.map(({ role }) => role),
      ["system", "user"]
    )
    assert.deepStrictEqual(prompt?.tools, [])
    const [compaction] = compactions(life)
    const data = prompt?.messages[1]?.content ?? ""
    const all = life.messages()
    assert.strictEqual(data.split("\n").length, compaction?.compacted_count)
    for (const [index, { content }] of all.entries()) {
      if (content.startsWith("Ship"))
        assert.strictEqual(data.includes(content.slice(0, 20)), index < (compaction?.compacted_count ?? 0))
    }
  })

  it("F60 F61 F62: the extraction sees the whole history each round, and what it does is counted", () => {
    const extract = [1, 2, 3].map((index): Line => ({
      calls: [note(`Fact number ${index} of the harbour.`)]
    }))
    const model = folder({ extract })
    const life = opened(model.script, {
      definition: { ...small, compaction: { preCompactMaxIterations: 5 } },
      settings: { ...settings, compactEmergencyRatio: 0.9, compactSleepRatio: 0.5 }
    })
    talk(life, 24)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    const rounds = model.of("extract")
    assert.strictEqual(rounds.length, 4)
    for (const [index, { messages, tools }] of rounds.entries()) {
      assert.sameMembers(
        tools.map(({ name }) => name),
        [...(getContextType("pre_compaction").toolFilter ?? [])]
      )
      assert.strictEqual(messages.filter(({ content }) => content.startsWith("Ship")).length, 24)
      assert.strictEqual(messages.filter(({ role }) => role === "tool").length, index)
      assert.strictEqual(messages.at(-1)?.role, "user")
    }
    assert.deepInclude(compactions(life)[0]?.extraction, {
      success: true,
      facts_recorded: 3,
      iterations: 4,
      ended_by: "noop"
    })
    assert.strictEqual(life.status(), "dreaming.resting")
  })

  it("F60: what a tick's own prompt had no room for is still shown to the extraction", () => {
    const model = folder()
    const life = opened(model.script, {
      definition: { ...small, persona: "You are patient and exact. ".repeat(350) },
      settings: { ...settings, compactEmergencyRatio: 0.9, compactSleepRatio: 0.5 }
    })
    talk(life, 24)
    assert.isFalse(shownNext(life).some(({ content }) => content.startsWith("Ship 0 lies")))
    life.post({ type: "sleep" })
    life.rest()
    const [round] = model.of("extract")
    assert.strictEqual(round?.messages.filter(({ content }) => content.startsWith("Ship")).length, 24)
  })

  it("F63: the signal stands with the rounds of the extraction, and with nothing after them", () => {
    const model = folder({ extract: [{ calls: [note("Something.")] }, { calls: [NOOP] }] })
    const life = opened(model.script, halved)
    talkUntilCompacted(life)
    const signals = life
      .entries()
      .flatMap(({ step }) => (step?.kind === "compact" ? [[step.name, step.detail?.["context_signals"] ?? null]] : []))
    assert.deepStrictEqual(signals, [
      ["compact extracting", { pre_compaction: true }],
      ["compact extracting", { pre_compaction: true }],
      ["compact summarizing", null],
      ["compact replacing", null]
    ])
  })

  it("F64 F114: what the extraction wrote down is shown to its next round, takes no place of what is kept, and goes with it", () => {
    const notes = Array.from({ length: 8 }, (_, at) => note(`Ship ${at} waits for the tide.`))
    const model = folder({ extract: [{ calls: notes }, { calls: notes }] })
    const life = opened(model.script)
    talkUntilCompacted(life)
    const [first, second] = model.of("extract").map(({ messages }) => messages.filter(({ role }) => role === "tool"))
    assert.deepStrictEqual([first?.length, second?.length], [0, 8])
    const [compaction] = compactions(life)
    assert.deepInclude(compaction?.extraction, { calls_made: 10, iterations: 2, ended_by: "cap" })
    assert.strictEqual(compaction?.preserved_count, 20)
    const all = life.messages()
    assert.isFalse(all.some(({ calls }) => calls?.[0]?.tool === "add_journal_entry"))
    assert.isFalse(shownNext(life).some(({ calls }) => calls?.[0]?.tool === "add_journal_entry"))
    assert.strictEqual(rowsOf(life, "journal").length, 11)
  })

  it("A18: an extraction that fails keeps no compaction from following", () => {
    const model = folder({ failing: "extract" })
    const life = opened(model.script)
    talkUntilCompacted(life)
    assert.deepInclude(compactions(life)[0]?.extraction, { success: false, ended_by: "failure" })
  })

  it("A18: a summary that fails leaves the history as it was, and the tick goes on", () => {
    const model = folder({ failing: "summarize" })
    const life = opened(model.script)
    talk(life, 36)
    assert.isNotEmpty(model.of("summarize"))
    assert.deepStrictEqual(compactions(life), [])
    assert.isTrue(life.ends().every(({ outcome }) => outcome === "answered"))
    const last = life.scripted.prompts.at(-1)?.messages ?? []
    assert.isFalse(last.some(({ content }) => content.startsWith(SUMMARY_HEAD)))
    assert.isFalse(rowsOf(life, "state").some((value) => JSON.stringify(value).includes('"draft"')))
  })

  it.each(["extract", "summarize"] as const)(
    "machine D7: while the model of %s is away the compaction waits, then it is done, and its tick goes on",
    (task) => {
      const model = folder({ away: [task, 4] })
      const life = opened(model.script)
      talkUntilCompacted(life)
      const waits = life.entries().filter((entry) => entry.status === "compacting.parked")
      assert.strictEqual(waits.length, 4)
      assert.deepStrictEqual(compactions(life)[0]?.extraction, {
        ...compactions(life)[0]?.extraction,
        success: true
      })
      assert.strictEqual(model.of("extract").length, 1, "what was extracted is not extracted again")
      assert.deepStrictEqual(new Set(life.ends().map(({ outcome }) => outcome)), new Set(["answered"]))
      assert.isEmpty(life.deadLetters())
      const began = life.entries().find((entry) => entry.status.startsWith("compacting."))
      assert.strictEqual(waits[0]?.tick, began?.tick)
    }
  )

  it("machine D7: summaries with a model of their own keep no tick waiting for that one", () => {
    const model = folder({ away: ["summarize", 1] })
    const life = opened(model.script, {
      definition: { ...small, compaction: { compactModel: "thrifty" } }
    })
    talkUntilCompacted(life)
    assert.isFalse(life.entries().some((entry) => entry.status === "compacting.parked"))
    assert.deepStrictEqual(new Set(life.ends().map(({ outcome }) => outcome)), new Set(["answered"]))
  })

  it("A11: once there is room again, the tick that was compacted for may do all that it may", () => {
    const model = folder()
    const life = opened(model.script)
    talkUntilCompacted(life)
    const snapshot = life.snapshot() as { readonly context: { readonly restriction: Json } }
    assert.deepStrictEqual(snapshot.context.restriction, {})
    const began = life.entries().find((entry) => entry.status === "compacting.extracting")
    assert.include(JSON.stringify(began?.event), '"mode":"single_action"')
  })

  it("A21: switched off, nothing is compacted and nothing extracted", () => {
    const model = folder()
    const life = opened(model.script, { settings: { compactEnabled: false } })
    talk(life, 29)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    assert.deepStrictEqual([...model.of("extract"), ...model.of("summarize")], [])
  })
})

describe("compaction asleep", () => {
  const slept = (
    count: number,
    more: LifeOptions = {}
  ): { readonly life: Life; readonly model: ReturnType<typeof folder> } => {
    const model = folder()
    const life = opened(model.script, more)
    talk(life, count)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    return { life, model }
  }

  it("F48 F49: the compaction is the last act of a dream, and only from the threshold on", () => {
    const full = slept(29, { settings: { ...settings, compactEmergencyRatio: 1 } })
    assert.strictEqual(compactions(full.life)[0]?.trigger, "sleep")
    const states = status(full.life)
    assert.isAbove(states.indexOf("compacting.extracting"), states.lastIndexOf("dreaming.pruning"))
    assert.strictEqual(full.life.status(), "dreaming.resting")
    const empty = slept(10)
    assert.deepStrictEqual([compactions(empty.life), empty.model.of("extract")], [[], []])
    assert.notInclude(status(empty.life), "compacting.extracting")
  })

  it("skip rules S3: what the extraction writes down may call for a reflection, but wakes no one", () => {
    const notes = Array.from({ length: 10 }, (_, index) => note(`Ship ${index} waits for the tide.`, 10))
    const model = folder({ extract: [{ calls: notes }, { calls: notes }] })
    const life = opened(model.script, { settings: { ...settings, compactEmergencyRatio: 1 } })
    talk(life, 29)
    life.post({ type: "sleep" })
    life.rest()
    life.post({ type: "wake" })
    talk(life, 20)
    life.post({ type: "sleep" })
    life.rest()
    assert.deepStrictEqual(
      compactions(life).map(({ extraction }) => extraction?.facts_recorded),
      [10, 10]
    )
    assert.strictEqual(life.status(), "dreaming.resting")
    assert.deepInclude(
      life.settled().find(({ id }) => id.endsWith("#reflection")),
      { outcome: "handled", reason: "asleep, it looks back in its dreams" }
    )
    assert.deepStrictEqual(model.of("reflect"), [])
    life.post({ type: "wake" })
    life.post({ type: "sleep" })
    life.rest()
    assert.strictEqual(model.of("reflect").length, 1)
  })

  it("F50: a history within the window is not compacted, however full it is", () => {
    const { life } = slept(5, {
      definition: { ...small, maxContextTokens: 400, reservedResponseTokens: 50 },
      settings: { ...settings, compactEmergencyRatio: 1, compactSleepRatio: 0.3 }
    })
    assert.deepStrictEqual(compactions(life), [])
    assert.include(
      life.told("step-skipped").map(({ step }) => step),
      "compact extracting"
    )
  })

  it("F105: a long history is read piece by piece, each a commit, and the last summary stands", () => {
    const model = folder()
    const life = opened(model.script, {
      definition: {
        ...small,
        compaction: { strategy: { type: "recursive-summarization", chunkTokens: 1_000 } }
      },
      settings: { ...settings, compactEmergencyRatio: 1 }
    })
    talk(life, 29)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    const asks = model.of("summarize")
    assert.isAbove(asks.length, 2)
    assert.strictEqual(compactions(life)[0]?.pieces, asks.length)
    for (const { messages } of asks.slice(1)) assert.include(messages[1]?.content, "[summary] They spoke of ships.")
    const commits = life.entries().filter(({ step }) => step?.name === "compact summarizing")
    assert.strictEqual(commits.length, asks.length)
  })

  it("F105: truncated, a history is compacted without a model", () => {
    const model = folder()
    const life = opened(model.script, {
      definition: { ...small, compaction: { strategy: { type: "truncate" } } },
      settings: { ...settings, compactEmergencyRatio: 1 }
    })
    talk(life, 29)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    assert.strictEqual(compactions(life).length, 1)
    assert.deepStrictEqual(model.of("summarize"), [])
  })
})

describe("what was compacted", () => {
  it("history H1: after a crash the window is the same, marker and all", () => {
    const model = folder()
    const life = opened(model.script)
    talkUntilCompacted(life)
    const second = folder()
    const again = opened(second.script, { disk: life.disk, startAt: life.time.now + 60_000 })
    const shown = shownNext(again)
    assert.strictEqual(shown.filter(({ content }) => content.startsWith(SUMMARY_HEAD)).length, 1)
    assert.isFalse(shown.some(({ content }) => content.startsWith("Ship 0 lies")))
  })

  it("is shown again when the compaction is taken back, once, and the reason is reported", () => {
    const model = folder()
    const life = opened(model.script, {
      settings: { ...settings, compactEmergencyRatio: 1, compactSleepRatio: 0.7 }
    })
    talk(life, 29)
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    const [compaction] = compactions(life)
    life.post({ type: "wake" })
    for (const id of ["undo-1", "undo-2"])
      life.post({ type: "undoCompaction", compaction: compaction?.id ?? "" }, { id })
    life.rest()
    assert.deepInclude(
      life.settled().find(({ id }) => id === "undo-1"),
      { outcome: "handled" }
    )
    assert.deepInclude(
      life.settled().find(({ id }) => id === "undo-2"),
      { outcome: "ignored" }
    )
    assert.isDefined(compactions(life)[0]?.undone_at)
    const shown = shownNext(life)
    assert.isFalse(shown.some(({ content }) => content.startsWith(SUMMARY_HEAD)))
    assert.isTrue(shown.some(({ content }) => content.startsWith("Ship 0 lies")))
  })
})

describe("working memory", () => {
  it("F83: it is reported where the words are compacted away, and a restart forgets it", () => {
    const model = folder()
    const life = opened(model.script)
    talkUntilCompacted(life)
    const told = (shown: ReadonlyArray<{ readonly content: string }>) =>
      shown.filter(({ content }) => /^.*With .+, lately\. Topics: /m.test(content))
    const shown = shownNext(life)
    assert.strictEqual(told(shown).length, 1)
    assert.include(told(shown)[0]?.content, "Ship")
    const again = opened(folder().script, { disk: life.disk, startAt: life.time.now + 60_000 })
    assert.deepStrictEqual(told(shownNext(again)), [])
  })
})
