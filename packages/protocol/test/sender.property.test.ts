import { assert, test } from "@effect/vitest"
import { assistantSender, sendingAssistant } from "@reverie/protocol"
import { senderName } from "@reverie/protocol/spoken"
import * as fc from "fast-check"

test("an assistant that sends is known and called by its id, and everybody else by what they are called", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (id) => {
      const sender = assistantSender(id)
      assert.deepStrictEqual([sendingAssistant(sender), senderName(sender)], [id, id])
      fc.pre(!id.startsWith("assistant:"))
      assert.deepStrictEqual([sendingAssistant(id), senderName(id)], [undefined, id])
    })
  )
})
