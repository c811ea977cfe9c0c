// Timeline: pages that join without gap or double, a story that leaves nothing out, spans that stay on their line.

import { expect, test } from "vitest"
import { costText } from "../src/parts/format.ts"
import { joined, storyOf, type View } from "../src/pages/timeline/story.ts"
import { openedIn, toggled } from "../src/pages/timeline/search.ts"
import { timelineHandlers } from "./fake/timeline.ts"
import { makeWorld } from "./fake/world.ts"

const world = makeWorld(4)
const ticks = timelineHandlers["GET /v1/assistants/:id/ticks"]
const page = (limit: number, before?: number) => {
  const query = { limit: String(limit), before: before === undefined ? undefined : String(before) }
  const found = ticks?.(world, { params: { id: "a" }, query, payload: {} })
  if (found === undefined) throw new Error("the fake has no ticks")
  return found
}
const nobody = { whose: "", rows: [], end: null }
const froms = (rows: ReadonlyArray<View>): ReadonlyArray<number> => rows.map(({ from }) => from)

test("pages follow one another without gap or double, and a page that is late is not taken (W2)", () => {
  const head = page(40)
  const first = joined(nobody, { ...head, whose: "a", before: "head" })
  const next = page(40, first.end ?? 0)
  const two = joined(first, { ...next, whose: "a", before: first.end ?? 0 })
  expect(froms(two.rows)).toEqual(froms(page(80).items))
  expect(joined(two, { ...next, whose: "a", before: first.end ?? 0 })).toBe(two)
  expect(joined(two, { ...next, whose: "b", before: two.end ?? 0 })).toBe(two)
})

test("the newest page is joined to what is there; with a gap between, it is begun anew (W2)", () => {
  const old = page(60, 499_900)
  const life = joined(nobody, { ...old, whose: "a", before: "head" })
  const overlapping = page(40, 499_980)
  const grown = joined(life, { ...overlapping, whose: "a", before: "head" })
  expect(froms(grown.rows)).toEqual(froms(page(76, 499_980).items))
  expect(grown.end).toBe(life.end)
  const far = page(10)
  expect(froms(joined(life, { ...far, whose: "a", before: "head" }).rows)).toEqual(froms(far.items))
})

test("what comes makes a life that is looked at no longer than a bound, and what went can be read again (W2, W3)", () => {
  const [first, ...later] = Array.from({ length: 30 }, (_, n) => page(40, 400_001 + n * 100))
  if (first === undefined) throw new Error("the fake has no ticks")
  const begun = joined(nobody, { ...first, whose: "a", before: "head" })
  const life = later.reduce((before, head) => joined(before, { ...head, whose: "a", before: "head" }), begun)
  expect(life.rows).toHaveLength(500)
  expect(life.end).toBe(life.rows.at(-1)?.from)
  const further = joined(life, { ...page(40, life.end ?? 0), whose: "a", before: life.end ?? 0 })
  expect(froms(further.rows)).toEqual(froms(page(540, 400_001 + 2_900).items))
  const held = joined(further, { ...page(40, 403_001), whose: "a", before: "head" })
  expect(held.rows).toHaveLength(540)
})

test("a story tells every model call, tool and step once, in the order in which they ended (S1)", () => {
  const views = page(200).items
  expect(views.some(({ tools }) => tools.length > 0)).toBe(true)
  for (const view of views) {
    const between = storyOf(view).filter(({ kind }) => !["heard", "waited", "ended"].includes(kind))
    const failedEnd = view.outcome === "failed" && view.endedAt !== undefined ? 1 : 0
    expect(between).toHaveLength(view.models.length + view.tools.length + view.steps.length + failedEnd)
    const times = between.map(({ at }) => at)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  }
})

test("an answer that was not accepted says why, and a tick without more tries ends in words", () => {
  const view = page(200).items.find(({ models, tools }) => models.length > 0 && tools.length === 0)
  if (view === undefined) throw new Error("the fake has no tick that only answers")
  const models = view.models.map((call) => ({ ...call, ok: true, text: "seven", misfit: "berth: must be number" }))
  const story = storyOf({ ...view, models, outcome: "misshapen", endedAt: view.beganAt + 1, reply: "seven" })
  const thought = story.find(({ says }) => says.startsWith("It thought"))
  expect(thought).toMatchObject({ kind: "failed", quote: "seven" })
  expect(thought?.says).toMatch(/, and its answer was not accepted \(berth: must be number\)$/)
  const says = "It had no more tries: its answer has another form than it must have"
  expect(story.at(-1)).toMatchObject({ kind: "failed", says, quote: "seven" })
})

test("what hooks did stands in the story in words, in its place, and an answer that none let pass ends it (S1)", () => {
  const view = page(200).items.find(({ models, tools }) => models.length > 0 && tools.length === 0)
  if (view === undefined) throw new Error("the fake has no tick that only answers")
  const of = 'assistant "desk"'
  const at = view.beganAt
  const hooks: View["hooks"] = [
    { hook: "onMessage", did: "changed", of, at, before: "card 1234" },
    { hook: "beforeTool", did: "asked", of, at, tool: "pay", call: "1.1.0", reason: "It is much." },
    { hook: "afterModel", did: "refused", of: "the fleet", at, reason: "It names a card." },
    { hook: "afterTool", did: "failed", of, at, tool: "pay", reason: "it broke" }
  ]
  const story = storyOf({ ...view, hooks, outcome: "refused", endedAt: at + 1, reply: "" })
  const told = story
    .filter(({ says }) => says.startsWith("The hook"))
    .map(({ kind, quote, says }) => [kind, says, quote])
  expect(told).toEqual([
    ["did", 'The hook onMessage of assistant "desk" changed the message', "before: card 1234"],
    ["did", 'The hook beforeTool of assistant "desk" has a person asked about the call of pay', "It is much."],
    ["failed", "The hook afterModel of the fleet refused the answer", "It names a card."],
    ["failed", 'The hook afterTool of assistant "desk" failed, which refused the result of pay', "it broke"]
  ])
  expect(story.at(-1)).toMatchObject({ kind: "failed", says: "It had no more tries: a hook refused its answer" })
})

test("a model that did not answer is named before the one that stood in for it (S1)", () => {
  const view = page(200).items.find(({ models }) => models.length === 1)
  const [call] = view?.models ?? []
  if (view === undefined || call === undefined) throw new Error("the fake has no calls")
  const earlier = [{ model: "first", server: "models.example", reason: "ModelUnavailable: refused" }]
  const told = storyOf({ ...view, tools: [], steps: [], models: [{ ...call, earlier }] }).map(({ says }) => says)
  const at = told.indexOf("first at models.example did not answer: ModelUnavailable: refused")
  expect(at).toBeGreaterThan(0)
  expect(told[at + 1]).toMatch(/^It thought for /)
})

test("what is open is in the URL, and reads as it was written", () => {
  const one = toggled({}, 120)
  const two = toggled({ open: one }, 95)
  expect([...openedIn({ open: two })]).toEqual([120, 95])
  expect(toggled({ open: toggled({ open: two }, 120) }, 95)).toBeUndefined()
})

test("a call whose price no one knows is unpriced, and never said to be free (M1)", () => {
  expect(costText([{ costMicros: 9_000 }, { unpriced: true }])).toBe("$0.0090")
  expect(costText([{ unpriced: true }])).toBe("unpriced")
  expect(costText([{ costMicros: 0 }, { unpriced: true }])).toBe("unpriced")
  expect(costText([{}])).toBe("")
})

test("a call that has a price and cost nothing is $0, one that took nothing has no cost (M1)", () => {
  expect(costText([{ costMicros: 0 }, {}])).toBe("$0")
})
