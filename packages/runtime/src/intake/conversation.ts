// Conversation: what was said in the sitting at hand, for as long as the process runs (F83).
// Owns noting both sides of it, and what a prompt is told of it. Leaves its bounds and its end to `memory`.
// C1  A conversation is a channel, or one who speaks directly. Nothing of it is written down: a restart forgets it.
// C2  A prompt is told its topics where the words themselves have been compacted away.

import { type Content, dataOf, historyStartOf, textOf } from "@reverie/context"
import { cleanLine, expired, workingText } from "@reverie/memory"
import type { AcceptedEnvelope, Entry } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { recordsOf } from "../session/own-records.ts"
import { noteSaid, workingOf } from "../dream/working.ts"
import { noteShown, type Session } from "../session/session.ts"

const conversationWith = (session: Session): string | undefined => {
  const asked = session.window.messages.findLast(({ role }) => role === "user")
  return asked?.name === "clock" ? undefined : asked?.name
}

/** Notes a message that began a tick. */
export const noteHeard = Effect.fnUntraced(function* (
  { address }: Session,
  { event, from }: AcceptedEnvelope,
  now: number
) {
  if (event.type !== "message") return
  yield* noteSaid(address, from, { speaker: from, text: event.text, at: now })
})

/** Notes what was answered in the tick that ended with this entry. */
export const noteAnswered = Effect.fnUntraced(function* (session: Session, { at, tickEnd }: Entry) {
  if (tickEnd === undefined || tickEnd.reply === "") return
  const conversation = conversationWith(session)
  if (conversation === undefined) return
  const { address } = session
  yield* noteSaid(address, conversation, { speaker: address.assistant, text: tickEnd.reply, at })
})

/**
 * What the conversation of the tick at hand is about, once the beginning of the history has been compacted away; empty when
 * nothing stands out. Before that it would change with every tick, and every prompt would begin anew.
 */
export const noteTopics = Effect.fnUntraced(function* (session: Session) {
  noteShown(session, { topics: "" })
  if (historyStartOf(recordsOf(session.own, "state")) === undefined) return
  const conversation = conversationWith(session) ?? ""
  const now = yield* Clock.currentTimeMillis
  const working = expired(yield* workingOf(session.address), now).get(conversation)
  if (working === undefined || working.topics.length === 0) return
  const lately = workingText({ lines: [], topics: working.topics })
  noteShown(session, { topics: `With ${cleanLine(conversation)}, lately. ${lately}` })
})

/** Whom one deals with: what is known of them, and what it was about lately. */
export const acquaintances = ({ recollection, topics }: Session): Content => {
  const known = recollection.profiles
  return topics === "" ? known : dataOf([textOf(known), topics].filter((text) => text !== "").join("\n\n"))
}
