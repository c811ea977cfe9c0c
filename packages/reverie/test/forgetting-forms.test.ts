import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet, type Forgettable } from "../src/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

const open = (data: string): Promise<Fleet> =>
  Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [desk] }) })

const forms = ["NFC", "NFD"] as const

describe("forgetting letters that are composed or not", () => {
  for (const stored of forms) {
    for (const asked of forms.filter((form) => form !== stored)) {
      for (const way of ["text", "person", "topic"] as const) {
        it(`C1 a ${way} in ${asked} is what was said in ${stored}`, async () => {
          const data = aDirectory()
          await using fleet = await open(data)
          const from = "ren\u00e9".normalize(stored)
          await fleet.answer("desk", "Caf\u00e9 Noir is my bar.".normalize(stored), { from })
          await fleet.answer("desk", "I live in Bergen.", { from: "ann" })
          await fleet.sleep("desk")
          await fleet.idle()
          const words = "Caf\u00e9 Noir".normalize(stored)
          assert.isNotEmpty(filesWith(data, words))
          const ways: Readonly<Record<typeof way, Forgettable>> = {
            text: { text: "caf\u00e9 noir".normalize(asked) },
            person: { person: "Ren\u00e9".normalize(asked) },
            topic: { topic: "Caf\u00e9 Noir".normalize(asked) }
          }
          const tried = await fleet.forget(ways[way], { dryRun: true })
          const { gone } = await fleet.forget(ways[way])
          assert.deepStrictEqual(gone, tried.gone)
          assert.isAbove(gone["entry"] ?? 0, 0)
          assert.isEmpty(filesWith(data, words))
          if (way === "person") assert.isEmpty(filesWith(data, from))
          const facts = (await fleet.memory.facts("desk")).map(({ text }) => text)
          assert.deepStrictEqual(facts, ["ann lives in Bergen"])
          assert.isTrue((await fleet.replay.verify("desk")).equal)
          assert.deepStrictEqual((await fleet.forget(ways[way])).gone, {})
        })
      }
    }
  }
})
