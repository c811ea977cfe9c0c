import { readFileSync } from "node:fs"
import { assert, test } from "@effect/vitest"
import { ledgerLaws, mailboxLaws, storeLaws, wakeQueueLaws } from "@reverie/testkit"

const named = (room: string): ReadonlyArray<string> => {
  const readme = readFileSync(new URL(`../../${room}/README.md`, import.meta.url), "utf8")
  return [...readme.matchAll(/`([BIQS]\d+\.[a-z-]+)`/g)].map(([, id = ""]) => id)
}

test.each([
  { room: "mailbox", laws: [...mailboxLaws, ...wakeQueueLaws] },
  { room: "ledger", laws: [...ledgerLaws, ...storeLaws] }
])("the README of $room names its laws, all of them and no other", ({ room, laws }) => {
  assert.sameMembers(
    [...named(room)],
    laws.map(({ id }) => id)
  )
})
