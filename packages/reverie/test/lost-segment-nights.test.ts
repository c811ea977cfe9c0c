// A life goes on behind a segment that is lost: what is said since is dreamt of, and comes to mind.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { defineAssistant, defineFleet, Fleet, type FleetOptions } from "../src/index.ts"
import { aDirectory } from "./rig.ts"

const segmentsIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const damage = (file: string) =>
  writeFileSync(
    file,
    readFileSync(file).map((byte, index) => (index === 60 ? byte ^ 1 : byte))
  )

const says = async (fleet: Fleet, from: string, texts: ReadonlyArray<string>) => {
  for (const text of texts) await fleet.answer("desk", text, { from })
}

const named = (thing: string, count: number) =>
  Array.from({ length: count }, (_, no) => `My ${thing} number ${no} is called ${thing}${no}.`)

const night = async (fleet: Fleet) => {
  await fleet.sleep("desk", { forMs: 9_000 })
  await fleet.idle()
  const [dream] = await fleet.memory.dreams("desk")
  return (dream?.lines ?? []).flatMap(({ error }) => error ?? [])
}

const learnt = async (fleet: Fleet, thing: string) =>
  (await fleet.memory.facts("desk")).filter(({ text }) => text.includes(thing)).length

interface Place {
  readonly data: string
  readonly directory: string
}

/** A life whose beginning is in segments; with a night before that, where it is asked for. */
const lived = async (open: (place: Place) => Promise<Fleet>, dreamt = false): Promise<Place> => {
  const place = { data: aDirectory(), directory: aDirectory() }
  const fleet = await open(place)
  await says(fleet, "bob", named("Boat", 6))
  if (dreamt) {
    assert.deepStrictEqual(await night(fleet), [])
    await says(
      fleet,
      "bob",
      Array.from({ length: 6 }, (_, no) => `Filler ${no}`)
    )
  }
  await fleet.vacuum()
  await fleet.close()
  assert.isNotEmpty(segmentsIn(place.directory))
  return place
}

describe("nights behind a segment that is lost", () => {
  const open = ({ data, directory }: Place) =>
    Fleet.open({
      data,
      segments: { directory },
      model: "offline",
      fleet: defineFleet({
        assistants: [
          defineAssistant({
            id: "desk",
            instructions: "You listen.",
            retention: { archiveAfter: 4 },
            sleep: { enabled: false }
          })
        ]
      })
    })

  it.each([
    ["damaged, and goes with what is forgotten", false, damage],
    ["damaged, and goes with what is forgotten, after a night", true, damage],
    ["missing", false, rmSync],
    ["missing, after a night", true, rmSync]
  ] as const)("L4 one is %s: what is said since is learnt", { timeout: 60_000 }, async (_, dreamt, lose) => {
    const place = await lived(open, dreamt)
    segmentsIn(place.directory).forEach((file) => lose(file))
    const fleet = await open(place)
    const { unread = [] } = await fleet.forget({ text: "Boat3" })
    assert.strictEqual(unread[0]?.state, lose === damage ? "removed" : "missing")
    await says(fleet, "ann", named("Cat", 3))
    assert.deepStrictEqual(await night(fleet), [])
    assert.strictEqual(await learnt(fleet, "Cat"), 3)
    await says(fleet, "ann", named("Dog", 2))
    assert.deepStrictEqual(await night(fleet), [])
    assert.strictEqual(await learnt(fleet, "Dog"), 2)
    await fleet.close()
  })
})

describe("what comes to mind behind a segment that is lost", () => {
  let prompt = ""
  const model: FleetOptions["model"] = {
    name: "listener",
    infer: async (asked) => {
      prompt = JSON.stringify(asked)
      return "Noted."
    }
  }
  const open = ({ data, directory }: Place) =>
    Fleet.open({
      data,
      segments: { directory },
      fleet: defineFleet({
        model,
        models: { dream: "offline", profile: "offline" },
        assistants: [
          defineAssistant({
            id: "desk",
            instructions: "You listen.",
            retention: { archiveAfter: 4 },
            sleep: { enabled: false },
            prompt: { keepRecent: 1, maxMessagesCap: 2 }
          })
        ]
      })
    })

  it.each([
    ["damaged, and goes with what is forgotten", damage],
    ["missing", rmSync]
  ] as const)("C5 one is %s: what was said since is called to mind", { timeout: 60_000 }, async (_, lose) => {
    const place = await lived(open)
    segmentsIn(place.directory).forEach((file) => lose(file))
    const fleet = await open(place)
    await fleet.forget({ text: "Boat3" })
    await says(fleet, "ann", ["The anchor of the Lorelei lies in berth twelve."])
    await says(
      fleet,
      "ann",
      Array.from({ length: 5 }, (_, no) => `Filler talk ${no}`)
    )
    await says(fleet, "ann", ["Where does the anchor of the Lorelei lie?"])
    assert.include(prompt, "berth twelve")
    await fleet.close()
    const again = await open(place)
    await says(again, "ann", ["Where does the anchor of the Lorelei lie today?"])
    assert.include(prompt, "berth twelve")
    await again.close()
  })
})
