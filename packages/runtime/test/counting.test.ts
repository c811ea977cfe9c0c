import { afterEach, assert, describe, it } from "@effect/vitest"
import { DEFAULT_SETTINGS, scheduleOf, type Settings } from "@reverie/assistant"
import { vi } from "vitest"
import { compactions, folder, note, NOOP, opened, talk, talkUntilCompacted } from "./folder.ts"
import { live } from "./rig.ts"

afterEach(() => vi.restoreAllMocks())

/** Counts how often defaults are filled in, and how often the given settings are read. */
const countingSettings = () => {
  const counts = { filled: 0, read: 0 }
  const { maxIterations } = DEFAULT_SETTINGS
  Object.defineProperty(DEFAULT_SETTINGS, "maxIterations", {
    configurable: true,
    enumerable: true,
    get: () => (counts.filled++, maxIterations)
  })
  const settings = {
    get maxIterations() {
      counts.read++
      return 4
    }
  } satisfies Partial<Settings>
  const restore = () =>
    Object.defineProperty(DEFAULT_SETTINGS, "maxIterations", {
      configurable: true,
      enumerable: true,
      writable: true,
      value: maxIterations
    })
  return { counts, settings, restore }
}

const ANSWERS = 10

describe("what an answer costs, counted", () => {
  it("I2 of the settings: they are filled in once for a definition and once for a session, not for each question", () => {
    const { counts, restore, settings } = countingSettings()
    try {
      const life = live({ settings, model: { text: "Aye." } })
      life.say("Ready?")
      life.rest()
      const first = { ...counts }
      for (let index = 0; index < ANSWERS; index++) {
        life.say(`And now? ${index}`)
        life.rest()
      }
      assert.strictEqual(life.ends().length, ANSWERS + 1)
      assert.strictEqual(counts.filled - first.filled, 0)
      assert.strictEqual(counts.read - first.read, 0)
    } finally {
      restore()
    }
  })

  it("no event is compared as JSON text: neither settings nor patterns, and a schedule is written out once", () => {
    const sleep = scheduleOf({ enabled: true })
    const life = live({ settings: { maxIterations: 4 }, definition: { sleep }, model: { text: "Aye." } })
    life.say("Ready?")
    life.rest()
    const stringify = vi.spyOn(JSON, "stringify")
    for (let index = 0; index < ANSWERS; index++) {
      life.say(`And now? ${index}`)
      life.rest()
    }
    const compared = stringify.mock.calls.filter(
      ([value]) =>
        typeof value === "object" && value !== null && (Object.hasOwn(value, "maxIterations") || value === sleep)
    )
    assert.strictEqual(life.ends().length, ANSWERS + 1)
    assert.lengthOf(compared, 0)
  })

  it("H1 of the history: a compaction reads it once, however many steps it takes, and each step what is new", () => {
    const model = folder({
      extract: [{ calls: [note("Ship 3 waits.")] }, { calls: [note("Ship 4 too.")] }, { calls: [NOOP] }]
    })
    let whole = 0
    const life = opened(model.script, {
      definition: { maxContextTokens: 6_000, reservedResponseTokens: 100 },
      store: (store) => ({
        ...store,
        ledger: {
          ...store.ledger,
          recent: (address, maxTokens, since) => {
            if (maxTokens === Number.MAX_SAFE_INTEGER) whole++
            return store.ledger.recent(address, maxTokens, since)
          }
        }
      })
    })
    talkUntilCompacted(life)
    const steps = life.entries().filter(({ step }) => step?.kind === "compact").length
    assert.isAtLeast(steps, 5)
    assert.strictEqual(whole, 1)
    talk(life, 60)
    assert.isAtLeast(compactions(life).length, 2)
    assert.strictEqual(whole, compactions(life).length)
  })
})
