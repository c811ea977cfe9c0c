// Two who remember what they hear, and whose history does not fit their window.

import { defineAssistant, defineFleet } from "reverie"

const remembering = (id: string) =>
  defineAssistant({ id, instructions: "You listen, and remember what you are told.", maxContextTokens: 8_000 })

export const [young, old] = [remembering("young"), remembering("old")]

export default defineFleet({ assistants: [young, old] })
