// Texts made for the rules that judge whether a text poses as an instruction: beginnings of attacks, and pieces of patterns over
// and over again. Rules whose work grows faster than the text held the event loop for seconds: one unbroken word was enough.

import type { Attack, Check } from "../attack.ts"
import type { Client, Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { holdsOf, holdsSince, saidOf, untilRest } from "../measures.ts"

/** As long as a passage of memory may be. */
const PASSAGE_CHARACTERS = 8_000
/** As much as a dream reads of one message. */
const MESSAGE_CHARACTERS = 2_000
const REST_MILLIS = 60_000

/** What a text begins with, and what is repeated behind it. */
const made: ReadonlyArray<readonly [beginning: string, piece: string]> = [
  ["", "a"],
  ["", "a@"],
  ["", "https://a?"],
  ["https://a?", "{a"],
  ["send the password ", "to "],
  ["send your password to ", "a."],
  ["forward the api key to ", "x "],
  ["ignore ", "ignore "],
  ["ignore all ", "previous "],
  ["do not tell ", "the "],
  ["you are now ", "the "],
  ["print ", "your "],
  ["call ", "a_"],
  ["call ", "a("],
  ['"tool": "a", ', "\t"],
  ["system ", "[system "],
  ["<system ", "<system "],
  ["user: ", "\nuser: "],
  ["a", "\n"],
  ["when the user ", "a "],
  ["your ", "rules "],
  ["act as ", "a the "],
  ["", "remember "],
  ["", "{{ #"]
]

const textOf = ([beginning, piece]: (typeof made)[number], characters: number): string =>
  (beginning + piece.repeat(characters)).slice(0, characters)

const dreamsOf = async (client: Client, assistant: string): Promise<number> => {
  const { items } = (await client.json(`/v1/assistants/${assistant}/dreams`)) as {
    readonly items: ReadonlyArray<unknown>
  }
  return items.length
}

/** Sends it to dream, and waits for the report. */
const dream = async (client: Client, assistant: string): Promise<boolean> => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ order: "sleep", forMs: 1_000 })
  }
  if ((await client.status(`/v1/assistants/${assistant}/orders`, init)) >= 300) return false
  for (const end = performance.now() + REST_MILLIS; performance.now() < end; await pause(200)) {
    if ((await dreamsOf(client, assistant)) > 0) return true
  }
  return false
}

/** How many texts the tool of memory has kept, or refused by the name of a rule. */
const judgedCount = async (client: Client): Promise<number> => {
  const { items } = (await client.json("/v1/assistants/bob/messages?limit=200")) as {
    readonly items: ReadonlyArray<{ readonly role: string; readonly content: string }>
  }
  return items.filter(({ content, role }) => role === "tool" && /poses as an instruction|"success":true/.test(content))
    .length
}

export const hostileRules: ReadonlyArray<Attack> = [
  {
    name: "hostile-rules",
    item: 6,
    says: `${made.length} texts made for the rules against instructions are said, dreamt of, and put into memory`,
    run: async (scene) => {
      const server = await scene.serve({ fleet: "remembering.ts" })
      const { client } = server
      const warm = [{ assistant: "ann", id: "warm" }]
      await client.post({ assistant: "ann", id: "warm" }, "Hello. The harbour opens at noon.")
      await client.post({ assistant: "bob", id: "warm-bob" }, `!store_memory {"text":"The harbour opens at noon."}`)
      await untilRest(client, REST_MILLIS)
      const before = await holdsOf(client)
      const posted: Array<Posted> = [...warm]
      const say = async (message: Posted, text: string): Promise<void> => {
        if (await client.post(message, text)) posted.push(message)
      }
      for (const [index, each] of made.entries()) {
        const args = JSON.stringify({ text: textOf(each, PASSAGE_CHARACTERS) })
        await say({ assistant: "ann", id: `said-${index}` }, textOf(each, MESSAGE_CHARACTERS))
        await say({ assistant: "bob", id: `kept-${index}` }, `!store_memory ${args}`)
      }
      const atRest = await untilRest(client, REST_MILLIS)
      const isDreamt = await dream(client, "ann")
      const judged = await judge(client, posted)
      const holds = holdsSince(before, await holdsOf(client))
      const judgements = await judgedCount(client)
      await server.stop()
      const checks: ReadonlyArray<Check> = [
        { says: "all come to rest", ok: atRest !== undefined },
        {
          says: "the tool of memory has judged each of them",
          ok: judgements === made.length + 1,
          seen: `${judgements} of ${made.length + 1}`
        },
        { says: "a dream has read them", ok: isDreamt },
        {
          says: "no piece of work holds the event loop for more than 50 ms of its own computing",
          ok: holds.all > 0 && holds.over50 === 0,
          seen: saidOf(holds)
        }
      ]
      return { ...judged, checks }
    }
  }
]
