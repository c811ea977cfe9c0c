import { cpSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { atLength } from "@reverie/testkit/length"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, exportFleet, Fleet } from "../src/index.ts"
import { killedIn } from "./killing.ts"
import { aDirectory, filesWith } from "./rig.ts"

const CANARY = "kestrel-9713"
/** Moments of one forgetting at which it is killed, spread over its time. */
const KILLS = Number(process.env["REVERIE_FORGET_KILLS"] ?? atLength(4, 8))
const child = fileURLToPath(new URL("./children/forgetting.ts", import.meta.url))

const open = (data: string): Promise<Fleet> =>
  Fleet.open({
    data,
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You keep the harbour book." })] }),
    model: "offline"
  })

const isKept = async (data: string): Promise<boolean> => {
  for await (const line of exportFleet({ from: { data } })) if (line.includes(CANARY)) return true
  return false
}

describe("forgetting that is killed", () => {
  test(
    "it is forgotten wholly or not at all, and what a kill left of its bytes the next start takes away",
    { timeout: 300_000 },
    async () => {
      const lived = aDirectory()
      const fleet = await open(lived)
      for (let each = 0; each < 40; each++) {
        await fleet.answer("desk", `The code of berth ${each} is ${CANARY}, says the ${each}th mate.`, { from: "ann" })
      }
      await fleet.sleep("desk")
      await fleet.idle()
      await fleet.close()
      assert.isNotEmpty(filesWith(lived, CANARY), "it was never kept")
      const whole = aDirectory()
      cpSync(lived, whole, { recursive: true })
      const millis = await killedIn(child, [whole, CANARY])
      assert.isEmpty(filesWith(whole, CANARY))
      const outcomes: Array<"kept" | "forgotten"> = []
      for (let kill = 0; kill < KILLS; kill++) {
        const data = aDirectory()
        cpSync(lived, data, { recursive: true })
        await killedIn(child, [data, CANARY], (millis * (kill + 0.5)) / KILLS)
        const again = await open(data)
        await again.idle()
        const kept = await isKept(data)
        outcomes.push(kept ? "kept" : "forgotten")
        if (!kept) assert.deepStrictEqual(filesWith(data, CANARY), [], `bytes after kill ${kill} of ${KILLS}`)
        assert.isTrue((await again.replay.verify("desk")).equal)
        const { gone } = await again.forget({ text: CANARY })
        assert.strictEqual(Object.keys(gone).length > 0, kept)
        assert.deepStrictEqual(filesWith(data, CANARY), [])
        assert.isEmpty(
          (await again.memory.recall("desk", CANARY)).hits.filter(({ entry }) => entry.text.includes(CANARY))
        )
        await again.close()
      }
      assert.includeMembers(outcomes, ["kept"], "no kill came before it was forgotten")
    }
  )
})
