import { assert, describe, it } from "@effect/vitest"
import { dreamOperations } from "@reverie/assistant"
import { type EntityProfile, type Fact, isEntityProfile, isFact } from "@reverie/memory"
import { ModelRefused, type Prompt } from "@reverie/model"
import { type Json, type RecordKind, type Task, taskOf } from "@reverie/protocol"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type Life, live, type LifeOptions } from "./rig.ts"

const dataOf = (prompt: Prompt): string => prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""

const taskIn = ({ messages }: Prompt): Task | undefined =>
  messages.flatMap(({ content, role }) => (role === "system" ? (taskOf(content) ?? []) : []))[0]

const newsIn = (data: string): ReadonlyArray<string> =>
  Array.from((data.split(/^New:$/m)[1] ?? "").matchAll(/^\[([^\]]+)\]/gm), ([, id = ""]) => id)

const entityIn = (data: string): string => /^Entity: (.*)$/m.exec(data)?.[1] ?? ""

/** Each line becomes one fact in its own words, about all who are named in it; each ask one attribute of all its news. */
const dreamer: Script = (prompt) => {
  const data = dataOf(prompt)
  switch (taskIn(prompt)) {
    case undefined:
      return Effect.succeed({ text: "I see." })
    case "consolidate": {
      const rows = Array.from(data.matchAll(/^\[([^\]]+)\] \S+ [^:]+: (.*)$/gm), ([, id = "", text = ""]) => ({
        id,
        importance: 8,
        facts: [{ text, entities: text.match(/\b(?:Caroline|Melanie|Olga)\b/g) ?? [] }]
      }))
      return Effect.succeed({ text: JSON.stringify(rows) })
    }
    case "profile": {
      const evidence = newsIn(data)
      const attribute = `${entityIn(data)} was spoken of from ${evidence[0]} on`
      return Effect.succeed({
        text: JSON.stringify([{ action: "ADD", target: null, attribute, evidence }])
      })
    }
    case "link": {
      // The nearest last: links are not made in the order of the facts.
      const rows = data.split(/^(?=\[)/m).map((group) => {
        const [fact, ...near] = Array.from(group.matchAll(/^ *\[([^\]]+)\]/gm), ([, id = ""]) => id)
        return { fact, links: near.toReversed().map((to) => ({ to, why: "painted in one week" })) }
      })
      return Effect.succeed({ text: JSON.stringify(rows) })
    }
    default:
      return Effect.succeed({ text: "[]" })
  }
}

const rowsOf = (life: Life, kind: RecordKind): ReadonlyArray<Json> =>
  Effect.runSync(life.store.ledger.records(life.address(), [kind])).map(({ value }) => value)

const facts = (life: Life): ReadonlyArray<Fact> => rowsOf(life, "fact").filter(isFact)
const profiles = (life: Life): ReadonlyArray<EntityProfile> => rowsOf(life, "entity").filter(isEntityProfile)
const profileOf = (life: Life, name: string): EntityProfile =>
  profiles(life).find((profile) => profile.name === name) ?? assert.fail(`no profile of ${name}`)

/** By entity the ids that its profile was asked about, in order. */
const asked = (life: Life): ReadonlyMap<string, ReadonlyArray<string>> => {
  const all = new Map<string, Array<string>>()
  for (const prompt of life.scripted.prompts.filter((each) => taskIn(each) === "profile")) {
    const data = dataOf(prompt)
    all.set(entityIn(data), [...(all.get(entityIn(data)) ?? []), ...newsIn(data)])
  }
  return all
}

const naming = (life: Life, name: string): ReadonlyArray<string> =>
  facts(life)
    .filter(({ entities }) => entities.includes(name))
    .toSorted((a, b) => a.at - b.at || a.id.length - b.id.length || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)

const line = (life: Life, operation: string): Readonly<Record<string, Json>> =>
  rowsOf(life, "dream")
    .flatMap((report) => (report as { readonly lines: ReadonlyArray<Record<string, Json>> }).lines)
    .findLast((each) => each["operation"] === operation) ?? assert.fail(`no line of ${operation}`)

const TALKED_OF = 213

/** A day on which Caroline is named in 213 messages, Melanie in every third of them, Olga in a few of Melanie's. */
const lived = (options: LifeOptions = {}, count = TALKED_OF): Life => {
  const life = live({ model: dreamer, ...options })
  for (let index = 0; index < count; index++) {
    const others = `${index % 3 === 0 ? " with Melanie" : ""}${index % 30 === 0 ? " and Olga" : ""}`
    life.say(`Caroline painted picture ${index}${others}.`, { from: "Ann" })
  }
  life.rest()
  return life
}

const sleep = (life: Life): Life => {
  life.post({ type: "sleep", forMs: 3_600_000 })
  life.rest()
  return life
}

const isProfiled = (life: Life): ReadonlyArray<string> =>
  facts(life)
    .filter(({ profiled }) => profiled)
    .map(({ id }) => id)

describe("profiling", () => {
  it("F49 P2: who is spoken of in 213 facts gets a profile made of 213, in steps, each read once and in order", () => {
    const life = sleep(lived())
    const all = naming(life, "Caroline")
    assert.lengthOf(all, TALKED_OF)
    for (const name of ["Caroline", "Melanie", "Olga"]) {
      assert.deepStrictEqual(asked(life).get(name), naming(life, name), name)
      const { attributes, observations, read } = profileOf(life, name)
      assert.strictEqual(read, naming(life, name).length, name)
      assert.isTrue(
        observations.every(({ digested }) => digested),
        name
      )
      assert.lengthOf(attributes, Math.ceil(naming(life, name).length / 20))
    }
    assert.isTrue(facts(life).every(({ profiled }) => profiled))
    // What was put to the model, and nothing besides.
    const reads = ["Caroline", "Melanie", "Olga"].reduce((sum, name) => sum + naming(life, name).length, 0)
    assert.deepInclude(line(life, "profiling"), { read: reads, accepted: 11 + 4 + 1 })
  })

  it("F49 P1: a night that ends early has marked nothing that was not read, and the next one reads the rest", () => {
    const life = lived({ settings: { sleepTickMs: 1_000 } })
    life.post({ type: "sleep" })
    const profilings = () => life.entries().filter(({ step }) => step?.name === "dream profiling").length
    for (let steps = 1; steps <= 12; steps++) {
      life.until(() => profilings() >= steps)
      const read = asked(life)
      for (const fact of facts(life).filter(({ profiled }) => profiled))
        for (const name of fact.entities) assert.include(read.get(name) ?? [], fact.id, `${fact.id} of ${name}`)
    }
    assert.isNotEmpty(isProfiled(life))
    life.until(() => life.status() === "dreaming.pausing")
    life.post({ type: "wake" })
    life.rest()
    assert.isBelow(isProfiled(life).length, TALKED_OF)
    sleep(life)
    assert.deepStrictEqual(asked(life).get("Caroline"), naming(life, "Caroline"))
    assert.lengthOf(isProfiled(life), TALKED_OF)
  })

  it.each([
    ["can not be read", Effect.succeed({ text: "I would rather not say." })],
    [
      "is refused",
      Effect.fail(new ModelRefused({ provider: "scripted", kind: "filtered", message: "not about Melanie" }))
    ]
  ] as const)("F49 P3: a profile whose answer %s is postponed, loses nothing and holds up no one", (_, end) => {
    let isAway = true
    const life = lived({
      model: (prompt, call) =>
        isAway && taskIn(prompt) === "profile" && entityIn(dataOf(prompt)) === "Melanie" ? end : dreamer(prompt, call)
    })
    sleep(life)
    assert.deepStrictEqual(asked(life).get("Caroline"), naming(life, "Caroline"))
    assert.deepStrictEqual(asked(life).get("Olga"), naming(life, "Olga"))
    assert.isTrue(facts(life).every(({ entities, profiled }) => profiled === !entities.includes("Melanie")))
    assert.lengthOf(asked(life).get("Melanie") ?? [], 20)
    isAway = false
    life.post({ type: "wake" })
    life.rest()
    sleep(life)
    assert.deepStrictEqual(asked(life).get("Melanie")?.slice(20), naming(life, "Melanie"))
    assert.strictEqual(profileOf(life, "Melanie").read, naming(life, "Melanie").length)
    assert.lengthOf(isProfiled(life), TALKED_OF)
  })

  it("F49: the report of a night tells what changed, and nothing else", () => {
    const life = lived({}, 45)
    sleep(life)
    assert.isAbove(Number(line(life, "linking")["accepted"]), 45)
    const pairs = () => facts(life).flatMap(({ id, links }) => links.map(({ to }) => `${id} ${to}`)).length / 2
    assert.deepStrictEqual(
      dreamOperations.map((operation) => [operation, line(life, operation)["accepted"]]),
      [
        ["consolidating", facts(life).length],
        ["linking", pairs()],
        ["profiling", profiles(life).reduce((sum, { attributes }) => sum + attributes.length, 0)],
        ["reflecting", 0],
        ["pruning", 0]
      ]
    )
    assert.deepInclude(line(life, "pruning"), { proposed: 0, accepted: 0 })
  })

  it("consolidating S2: what one prompt has no room for is asked in several, and the whole night is dreamt", () => {
    const life = live({ model: dreamer, definition: { maxContextTokens: 3_000, reservedResponseTokens: 500 } })
    const filler = "on a long and windy evening by the harbour, while all the others had gone to the fair, ".repeat(3)
    for (let index = 0; index < 60; index++) life.say(`Caroline painted picture ${index} ${filler}`, { from: "Ann" })
    life.rest()
    sleep(life)
    assert.lengthOf(facts(life), 60)
    assert.isTrue(facts(life).every(({ linked, profiled }) => linked && profiled))
    for (const operation of dreamOperations) assert.notProperty(line(life, operation), "error")
    assert.isAbove(Number(line(life, "linking")["accepted"]), 0)
    const parts = life.scripted.prompts.filter((prompt) => taskIn(prompt) === "link").length
    assert.isAbove(parts, Number(line(life, "linking")["steps"]))
  })

  it("F49 statement S1 S2: whatever a model proposes, a fact states something and stands alone", () => {
    const life = live({ model: dreamer })
    const flawed = ["They brighten up Caroline's day.", "Has Caroline sold it?", "Caroline shared a photo of a dog."]
    for (const text of [...flawed, "Caroline grows sunflowers."]) life.say(text, { from: "Ann" })
    life.rest()
    sleep(life)
    assert.deepStrictEqual(
      facts(life).map(({ text }) => text),
      ["Caroline grows sunflowers."]
    )
    assert.deepInclude(line(life, "consolidating"), { read: 4, proposed: 4, accepted: 1 })
  })
})
