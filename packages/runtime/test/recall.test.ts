import { assert, describe, it } from "@effect/vitest"
import { echoingTools, newProfile, observe, Recall, RecallUnavailable } from "@reverie/memory"
import type { Prompt } from "@reverie/model"
import { isJsonObject, type Json } from "@reverie/protocol"
import { hashedEmbedder, inTurn, type Line, memoryRecall, RecallDisk } from "@reverie/testkit"
import { blockTools, memoryTools, selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { recallFor, rebuildIndex } from "../src/index.ts"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"
import { catchUp } from "../src/recall/indexer.ts"

type Service = Recall["Service"]

/** An index that can be unplugged. */
const plug = (recall: Service) => {
  const state = { isOut: false, asked: 0 }
  const down =
    <Args extends ReadonlyArray<unknown>, A, E>(verb: (...args: Args) => Effect.Effect<A, E>) =>
    (...args: Args): Effect.Effect<A, E | RecallUnavailable> =>
      Effect.suspend((): Effect.Effect<A, E | RecallUnavailable> => {
        state.asked++
        return state.isOut
          ? Effect.fail(new RecallUnavailable({ operation: "any", message: "unplugged" }))
          : verb(...args)
      })
  const plugged: Service = {
    ...recall,
    apply: down(recall.apply),
    position: down(recall.position),
    search: down(recall.search),
    count: down(recall.count)
  }
  return { recall: plugged, state }
}

const SECRET = "The spare key of the boathouse hangs behind the blue barrel."
const QUESTION = "Where does the spare key of the boathouse hang?"

const chatter = (life: Life, from: number, to: number): void => {
  for (let day = from; day < to; day++) {
    life.say(`Day ${day}: the ferry was late and the gulls were loud, as ever.`, { from: "Bob" })
    life.rest()
  }
}

/** A life that was told something long ago: its window no longer holds it. */
const forgetful = (options: LifeOptions) => {
  const life = live({
    model: { text: "Noted." },
    ...options,
    definition: { maxContextTokens: 700, reservedResponseTokens: 100, ...options.definition }
  })
  life.say(SECRET, { from: "Ann" })
  life.rest()
  chatter(life, 1, 40)
  return life
}

const ask = (life: Life, options: Parameters<typeof recallFor>[2] = {}, question = QUESTION) =>
  life.run(Effect.provide(recallFor(life.address(), question, options), life.services()))

const textsOf = ({ messages }: Prompt, role: string): string =>
  messages.flatMap((each) => (each.role === role ? [each.content] : [])).join("\n")

const recalledIn = (life: Life): ReadonlyArray<ReadonlyArray<string>> =>
  life.entries().flatMap(({ step }) => {
    const detail: Json = step?.detail ?? null
    const recalled = isJsonObject(detail) ? detail["recalled"] : undefined
    return step?.kind === "infer" ? [Array.isArray(recalled) ? recalled.map(String) : []] : []
  })

describe("the index of an assistant", () => {
  it("I1 catches up when the assistant is let go, and not while it works", () => {
    const disk = new RecallDisk()
    const { recall, state } = plug(memoryRecall(disk))
    const life = live({ recall, model: { text: "Noted." } })
    life.say(SECRET)
    life.rest()
    assert.strictEqual(state.asked, 0)
    life.pass(20_000)
    assert.strictEqual(life.run(recall.position(life.address())).no, life.entries().length)
    assert.strictEqual(life.run(recall.count(life.address())), 2)
  })

  it("I1 of one that never rests it is not left behind for ever", () => {
    const { recall } = plug(memoryRecall())
    const life = live({ recall, model: { text: "Noted." }, worker: { idleMs: 10 * 60_000 } })
    chatter(life, 0, 160)
    assert.isAbove(life.run(recall.position(life.address())).no, 200)
  })

  it("I1 F83 lost and made again it gives the same answers", () => {
    const disk = new RecallDisk()
    const life = forgetful({ recall: memoryRecall(disk) })
    const before = ask(life)
    assert.include(before.hits[0]?.entry.text, "behind the blue barrel")
    disk.assistants.clear()
    assert.deepStrictEqual(ask(life), before)
    const rebuilt = Effect.provideService(rebuildIndex(life.address()), Recall, memoryRecall(disk))
    life.run(Effect.provide(rebuilt, life.services()))
    assert.deepStrictEqual(ask(life), before)
  })

  it("I4 unplugged it costs no tick and loses nothing; plugged in again it catches up", () => {
    const { recall, state } = plug(memoryRecall())
    state.isOut = true
    const life = forgetful({ recall })
    life.pass(20_000)
    assert.strictEqual(life.ends().length, 40)
    assert.deepStrictEqual(life.failures, [])
    state.isOut = false
    life.pass(10_000)
    life.say("Are you there?")
    life.rest()
    life.pass(20_000)
    assert.strictEqual(life.run(recall.position(life.address())).no, life.entries().length)
    assert.isUndefined(ask(life).degraded)
  })

  it("I4 an adapter that breaks is one that does not answer", () => {
    const recall: Service = { ...memoryRecall(), position: () => Effect.die(new Error("a bug")) }
    const life = forgetful({ recall })
    life.pass(20_000)
    assert.deepStrictEqual(life.failures, [])
    assert.include(ask(life).degraded, "a bug")
  })

  it("only so many entries are gone through when someone waits", () => {
    const recall = memoryRecall()
    const life = forgetful({ recall: memoryRecall() })
    const within = Effect.provideService(catchUp(life.address(), { maxEntries: 5 }), Recall, recall)
    const { position, ...rest } = life.run(Effect.provide(within, life.services()))
    assert.deepStrictEqual({ no: position.no, ...rest }, { no: 5, entries: 5, isWhole: false })
  })
})

describe("a question to memory", () => {
  it("Q1 knows what was lived through right before it", () => {
    const life = live({ recall: memoryRecall(), model: { text: "Noted." } })
    life.say(SECRET, { from: "Ann" })
    life.rest()
    const { degraded, hits, mode } = ask(life)
    assert.isUndefined(degraded)
    assert.strictEqual(mode, "fts")
    assert.strictEqual(hits[0]?.entry.speaker, "Ann")
    assert.includeMembers([...(hits[0]?.why.terms ?? [])], ["spare", "key"])
  })

  it("Q2 F107 auto is hybrid where there is an embedder with vectors, else fts; a mode that is asked for is kept", () => {
    const { embedder, outage } = hashedEmbedder()
    const life = live({ recall: memoryRecall(), embedder, model: { text: "Noted." } })
    life.say(SECRET)
    life.rest()
    assert.strictEqual(ask(life).mode, "fts")
    life.pass(20_000)
    assert.strictEqual(ask(life).mode, "hybrid")
    assert.isDefined(ask(life).hits[0]?.why.vector)
    assert.strictEqual(ask(life, { mode: "fts" }).mode, "fts")
    assert.strictEqual(ask(life, { mode: "vector" }).mode, "vector")
    life.run(outage.strike)
    const poorer = ask(life, {}, "Where is the boathouse key?")
    assert.deepStrictEqual([poorer.mode, poorer.hits.length > 0], ["fts", true])
    assert.include(poorer.degraded, "only words")
    const without = live({ recall: memoryRecall(), model: { text: "Noted." } })
    assert.strictEqual(ask(without, { mode: "hybrid" }).mode, "fts")
  })

  it("V2 another embedder is filled in beside the present one, and used when nothing is missing", () => {
    const disk = new RecallDisk()
    const first = live({ recall: memoryRecall(disk), embedder: hashedEmbedder(32).embedder, model: { text: "Noted." } })
    first.say(SECRET)
    first.rest()
    first.pass(20_000)
    assert.strictEqual(disk.current?.id, "hashed/32")
    const second = live({
      disk: first.disk,
      startAt: first.time.now,
      recall: memoryRecall(disk),
      embedder: hashedEmbedder(64).embedder,
      model: { text: "Noted." }
    })
    assert.strictEqual(ask(second).mode, "fts")
    second.say("Good morning.", { id: "morning" })
    second.rest()
    second.pass(20_000)
    assert.strictEqual(disk.current?.id, "hashed/64")
    assert.isUndefined(disk.next)
    assert.strictEqual(ask(second).mode, "hybrid")
  })

  it("Q3 unplugged, or without an index, the answer comes from the store and says so", () => {
    const { recall, state } = plug(memoryRecall())
    const life = forgetful({ recall })
    const whole = ask(life)
    state.isOut = true
    const poorer = ask(life)
    assert.include(poorer.degraded, "unplugged")
    assert.strictEqual(poorer.hits[0]?.entry.id, whole.hits[0]?.entry.id)
    assert.include(ask(live({ disk: life.disk, idle: true })).degraded, "no index")
  })
})

/** A profile of someone, as a dream would have left it. */
const knows = (life: Life, name: string, text: string): void => {
  const profile = newProfile(name, 0, "person")
  assert.isDefined(profile)
  const { profile: known } = observe(profile, {
    id: `o-${name}`,
    text,
    at: 1,
    source: "m/2/0",
    origin: { type: "person", name },
    trust: 0.9
  })
  const row = { kind: "entity", key: known.id, value: JSON.parse(JSON.stringify(known)) } as const
  life.disk.resident(life.address())?.records.set(JSON.stringify(["entity", known.id]), row)
}

describe("what comes to mind by itself", () => {
  it("C2 C4 what the window has lost is shown as data in the user role, and stands in the ledger by its ids", () => {
    const life = forgetful({ recall: memoryRecall() })
    const before = life.scripted.prompts.length
    life.say(QUESTION, { from: "Ann" })
    life.rest()
    const prompt = life.scripted.prompts[before]
    assert.isDefined(prompt)
    assert.include(textsOf(prompt, "user"), "behind the blue barrel")
    assert.notInclude(textsOf(prompt, "system"), "behind the blue barrel")
    assert.include(recalledIn(life).at(-1) ?? [], "m/2/0")
  })

  it("C2 nothing that is in the window is ever recalled", () => {
    const life = forgetful({ recall: memoryRecall() })
    for (const [at, prompt] of life.scripted.prompts.entries()) {
      const memories = prompt.messages.find(({ content }) => content.startsWith("<recalled_memories>"))
      const lines = memories?.content.split("\n").filter((line) => line.startsWith("- (message")) ?? []
      const shown = prompt.messages.filter((each) => each !== memories).map(({ content }) => content)
      for (const line of lines) {
        const said = line.slice(line.indexOf(") ") + 2)
        if (said !== "Noted.") assert.notInclude(shown, said, `prompt ${at}`)
      }
    }
    assert.isAbove(recalledIn(life).filter((ids) => ids.length > 0).length, 5)
  })

  it("C1 every model call of a tick is shown the same", () => {
    const look = aTool("look")
    const life = forgetful({
      recall: memoryRecall(),
      tools: [look],
      model: ({ messages }) => {
        const line: Line = messages.at(-1)?.content === QUESTION ? calling("look") : { text: "Noted." }
        return Effect.succeed(line)
      }
    })
    const before = life.scripted.prompts.length
    life.say(QUESTION, { from: "Ann" })
    life.rest()
    const shown = life.scripted.prompts
      .slice(before)
      .map(({ messages }) => messages.find(({ content }) => content.startsWith("<recalled_memories>"))?.content)
    assert.strictEqual(shown.length, 2)
    assert.isDefined(shown[0])
    assert.strictEqual(shown[0], shown[1])
    assert.deepStrictEqual(recalledIn(life).at(-1), recalledIn(life).at(-2))
  })

  it("C3 no one asks the index where the window holds everything", () => {
    const { recall, state } = plug(memoryRecall())
    const life = live({ recall, model: { text: "Noted." } })
    chatter(life, 0, 10)
    assert.strictEqual(state.asked, 0)
  })

  it("C3 a passage that was put away is worth asking for, in the same lease session and in the next one", () => {
    const store = { tool: "store_memory", arguments: { text: SECRET, tags: ["boathouse"] } }
    const recall = memoryRecall()
    const life = live({
      recall,
      tools: memoryTools,
      model: inTurn({ calls: [store] }, { text: "It is put away." }, { text: "Behind the barrel." })
    })
    life.say("Remember it.")
    life.rest()
    life.say(QUESTION)
    life.rest()
    const [id] = recalledIn(life).at(-1) ?? []
    assert.match(id ?? "", /^p\/passage_/)
    const later = live({ disk: life.disk, startAt: life.time.now + 60_000, recall, model: { text: "Yes." } })
    later.say(QUESTION, { id: "later" })
    later.rest()
    assert.include(recalledIn(later).at(-1) ?? [], id)
  })

  it("C1 C4 whom one deals with is shown from his profile, as data, and so is whom he speaks of", () => {
    const life = live({ model: { text: "Noted." } })
    knows(life, "Ann", "Ann keeps the boathouse.")
    knows(life, "Bob", "Bob steers the ferry.")
    knows(life, "Cid", "Cid mends nets.")
    life.say("Has Bob come in yet?", { from: "Ann" })
    life.rest()
    const [prompt] = life.scripted.prompts
    assert.isDefined(prompt)
    assert.include(textsOf(prompt, "user"), "Ann keeps the boathouse")
    assert.include(textsOf(prompt, "user"), "Bob steers the ferry")
    assert.notInclude(JSON.stringify(prompt), "mends nets")
    assert.notInclude(textsOf(prompt, "system"), "boathouse")
    assert.deepStrictEqual(recalledIn(life).at(-1), ["e/ann", "e/bob"])
  })

  it("A1 who has met thousands reads the profiles of those in the room, and no others", () => {
    const asked: Array<ReadonlyArray<string> | number> = []
    const life = live({
      model: { text: "Noted." },
      idle: true
    })
    for (let number = 0; number < 40; number++) knows(life, `Stranger ${number}`, `Stranger ${number} was here.`)
    knows(life, "Ann", "Ann keeps the boathouse.")
    knows(life, "Bob North", "Bob North steers the ferry.")
    life.work({}, (store) => ({
      ...store,
      ledger: {
        ...store.ledger,
        records: (address, kinds, filter) => {
          if (kinds.includes("entity")) asked.push(filter?.keys ?? filter?.limit ?? Infinity)
          return store.ledger.records(address, kinds, filter)
        }
      }
    }))
    life.say("Has Bob North come in yet?", { from: "Ann" })
    life.rest()
    life.say("And is Stranger 7 with him?", { from: "Ann" })
    life.rest()
    assert.deepStrictEqual(recalledIn(life), [
      ["e/ann", "e/bob-north"],
      ["e/ann", "e/stranger-7"]
    ])
    const [few, ...named] = asked
    assert.strictEqual(few, 17)
    for (const keys of named) assert.isTrue(Array.isArray(keys) && keys.length < 40)
  })

  it("C3 whether anything is kept is asked without reading all of it", () => {
    const limits: Array<number | undefined> = []
    const life = live({
      recall: memoryRecall(),
      model: { text: "Noted." },
      store: (store) => ({
        ...store,
        ledger: {
          ...store.ledger,
          records: (address, kinds, filter) => {
            if (kinds.includes("fact")) limits.push(filter?.limit)
            return store.ledger.records(address, kinds, filter)
          }
        }
      })
    })
    life.say("Good morning.")
    life.rest()
    assert.deepStrictEqual(limits, [1])
  })

  it("C4 it is bounded in hits and tokens, and can be turned off", () => {
    const shown = (memory: NonNullable<NonNullable<LifeOptions["definition"]>["memory"]>) => {
      const life = forgetful({ recall: memoryRecall(), definition: { memory } })
      life.say("Day 3: was the ferry late?", { from: "Bob" })
      life.rest()
      return recalledIn(life).at(-1)?.length ?? 0
    }
    assert.strictEqual(shown({ maxHits: 3 }), 3)
    assert.strictEqual(shown({ maxTokens: 10 }), 0)
    assert.isBelow(shown({ maxHits: 20, maxTokens: 150 }), 5)
    assert.strictEqual(shown({ recall: "off" }), 0)
  })

  it("C5 unplugged in the middle, ticks go on, remembering from the store", () => {
    const { recall, state } = plug(memoryRecall())
    const life = forgetful({ recall })
    state.isOut = true
    life.say(QUESTION, { from: "Ann" })
    life.rest()
    assert.include(recalledIn(life).at(-1) ?? [], "m/2/0")
    assert.deepStrictEqual(life.failures, [])
  })
})

describe("what tools answer", () => {
  it("M1 of messages: no built-in tool is indexed whose result only shows what is kept", () => {
    const own = [...selfTools, ...memoryTools, ...blockTools].map(({ name }) => name)
    assert.deepStrictEqual(
      own.filter((name) => !echoingTools.has(name)),
      []
    )
  })
})
