import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { shareRedis } from "@reverie/testkit/shared-servers"
import * as Redacted from "effect/Redacted"
import { assert, test } from "vitest"
import { Handling } from "./handling.ts"
import { addressOf, type Line, openLine, sleep } from "./line.ts"
import { optionsAt } from "./place.ts"

const redis = shareRedis()

const WAKE_UPS = 4_000
const ASSISTANTS = 40

/** The same numbers every time. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
}

const closeAll = (lines: ReadonlyArray<Line>) => Promise.all(lines.map((line) => line.close()))

redis.describe("queue-bullmq under the hammer", () => {
  test(
    "Q3 J2 H3 a wake-up given while its assistant is handled is never lost, and no one is handled twice at once",
    { timeout: 300_000 },
    async () => {
      const options = optionsAt({ redis: Redacted.make(redis.server().url) }, { deadlineMillis: 30_000 })
      const lines = Array.from({ length: 3 }, () => openLine(options))
      const pick = numbersFrom(4711)
      const handling = new Handling()
      for (const line of lines) void handling.work(line, () => pick(4)).catch(() => undefined)
      const publisher = lines[0]
      if (publisher === undefined) throw new Error("no line")
      const giving = Array.from({ length: 8 }, async () => {
        for (let i = 0; i < WAKE_UPS / 8; i++) {
          await handling.send(publisher, `a-${pick(ASSISTANTS)}`)
          if (pick(3) === 0) await sleep(pick(5))
        }
      })
      await Promise.all(giving)
      // No sweep: what is left now is found only by a wake-up that is still there.
      while (handling.waiting > 0) await sleep(20)
      await handling.stop()
      assert.strictEqual(handling.overlaps, 0)
      assert.isAbove(handling.handled, ASSISTANTS)
      await closeAll(lines)
    }
  )

  test(
    "J3 wake-ups in hand of a process that was killed are handed out again to another",
    { timeout: 120_000 },
    async () => {
      const { url } = redis.server()
      const options = optionsAt({ redis: Redacted.make(url) })
      const line = openLine(options)
      const names = ["ada", "bob", "cleo"]
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL("holder.ts", import.meta.url)), url, options.prefix, String(names.length)],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      for (const name of names) await line.wake(addressOf(name))
      let said = ""
      for await (const chunk of child.stdout) {
        said += String(chunk)
        if (said.split("\n").length > names.length) break
      }
      // The second time around, too: a wake-up may stall as often as it will.
      child.kill("SIGKILL")
      await once(child, "exit")
      const since = performance.now()
      const taken = new Set<string>()
      while (taken.size < names.length) {
        const wakeUp = await line.take()
        taken.add(wakeUp.address.assistant)
        await line.done(wakeUp)
      }
      console.log(`handed out again after ${Math.round(performance.now() - since)} ms`)
      assert.deepStrictEqual([...taken].toSorted(), names)
      await line.close()
    }
  )
})
