import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { atLength } from "@reverie/testkit/length"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, type Encryption, encrypt, Fleet, StoreSealed } from "../src/index.ts"
import { killedIn } from "./killing.ts"
import { aDirectory, filesWith } from "./rig.ts"

const CANARY = "kestrel-9713"
/** Moments of one run at which it is killed, spread over its time. */
const KILLS = Number(process.env["REVERIE_ENCRYPT_KILLS"] ?? atLength(2, 6))
const child = fileURLToPath(new URL("./children/encrypting.ts", import.meta.url))

const open = (data: string, encryption?: Encryption): Promise<Fleet> =>
  Fleet.open({
    data,
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You keep the harbour book." })] }),
    model: "offline",
    ...(encryption !== undefined && { encryption })
  })

const lived = async (): Promise<string> => {
  const data = aDirectory()
  const fleet = await open(data)
  for (let each = 0; each < 40; each++) {
    await fleet.answer("desk", `The code of berth ${each} is ${CANARY}, says the ${each}th mate.`, { from: "ann" })
  }
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.close()
  return data
}

const keyFile = (): string => {
  const folder = aDirectory()
  mkdirSync(folder, { recursive: true })
  const file = join(folder, "master.key")
  writeFileSync(file, "5f".repeat(32))
  return file
}

/** Everything reads as before, and afterwards no file has a word of it. */
const assertSealed = async (data: string, encryption: Encryption, ticks: number): Promise<void> => {
  const fleet = await open(data, encryption)
  assert.lengthOf((await fleet.history.ticks("desk", { limit: 100 })).ticks, ticks)
  assert.isTrue((await fleet.replay.verify("desk")).equal)
  assert.include(JSON.stringify(await fleet.memory.recall("desk", "the code of berth 7")), CANARY)
  await fleet.close()
  assert.deepStrictEqual(filesWith(data, CANARY), [])
}

describe("a process that is killed", () => {
  test("Z1 Z3 while it encrypts leaves a directory in the clear or sealed, whole", { timeout: 300_000 }, async () => {
    const [clear, file] = [await lived(), keyFile()]
    const encryption = { key: { file } }
    const before = await open(clear)
    const ticks = (await before.history.ticks("desk", { limit: 100 })).ticks.length
    await before.close()
    const whole = aDirectory()
    cpSync(clear, whole, { recursive: true })
    const millis = await killedIn(child, ["encrypt", whole, file])
    await assertSealed(whole, encryption, ticks)
    const outcomes: Array<"clear" | "sealed"> = []
    for (let kill = 0; kill < KILLS; kill++) {
      const data = aDirectory()
      cpSync(clear, data, { recursive: true })
      await killedIn(child, ["encrypt", data, file], (millis * (kill + 0.5)) / KILLS)
      const refusal: unknown = await open(data).then(
        (fleet) => fleet.close(),
        (error: unknown) => error
      )
      outcomes.push(refusal === undefined ? "clear" : "sealed")
      if (refusal === undefined) await encrypt({ data, encryption })
      else assert.instanceOf(refusal, StoreSealed)
      await assertSealed(data, encryption, ticks)
    }
    assert.include(outcomes, "clear", "no kill came before it was encrypted")
  })

  test("Z1 while it gives other keys leaves all of it readable", { timeout: 300_000 }, async () => {
    const [data, file] = [await lived(), keyFile()]
    const encryption = { key: { file } }
    await encrypt({ data, encryption })
    const before = await open(data, encryption)
    const ticks = (await before.history.ticks("desk", { limit: 100 })).ticks.length
    await before.close()
    const whole = aDirectory()
    cpSync(data, whole, { recursive: true })
    const millis = await killedIn(child, ["renew", whole, file])
    for (let kill = 0; kill < KILLS; kill++) {
      const each = aDirectory()
      cpSync(data, each, { recursive: true })
      await killedIn(child, ["renew", each, file], (millis * (kill + 0.5)) / KILLS)
      await assertSealed(each, encryption, ticks)
    }
  })
})
