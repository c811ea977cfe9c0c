// What tests of forgetting do with the assistant "desk", and what they read of its memory.

import type { Fleet } from "../src/index.ts"

export const night = async (fleet: Fleet): Promise<void> => {
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.wake("desk")
  await fleet.idle()
}

export const said = (fleet: Fleet, from: string, text: string) => fleet.answer("desk", text, { from })

export const textsOf = async (fleet: Fleet) => (await fleet.memory.facts("desk")).map(({ text }) => text)
export const attributesOf = async (fleet: Fleet, name: string) =>
  (await fleet.memory.profiles("desk"))
    .find((each) => each.name === name)
    ?.attributes.map(({ text }) => text)
    .toSorted()
