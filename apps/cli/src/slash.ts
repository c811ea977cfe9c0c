// Slash: what a person may ask of the command line in a chat, besides speaking.
// Owns the readings and small orders of /state to /cost. Leaves decisions and questions to conversation.ts.

import { contextText } from "./context-text.ts"
import { dreamsText } from "./memory-text.ts"
import { say } from "./output.ts"
import { plain } from "./plain.ts"
import type { Backend } from "./backend/backend.ts"
import { assistantTable } from "./report.ts"
import { counted } from "./table.ts"

export const SLASH_HELP = `/state              who is doing what
/context            what the model was shown last
/memory             what it keeps
/compact            tell it to compact its history, and how full its window is
/dream              tell it to sleep, and show its last dream
/undo               take the newest compaction of its history back
/cost               what it has spent
/approve [id]       let the call that waits for you run
/deny [id]          refuse it
/to ASSISTANT       speak with somebody else
/quit               leave`

const state = async (backend: Backend): Promise<string> => assistantTable((await backend.page({ limit: 100 })).items)

const context = async (backend: Backend, id: string): Promise<string> => {
  const report = await backend.contextReport(id, {})
  return report === undefined ? `no tick of ${id} keeps the report of a prompt` : contextText(id, report)
}

const memory = async (backend: Backend, id: string): Promise<string> => {
  const kept = Object.entries(await backend.kept(id)).map(([kind, count]) => `${kind} ${count}`)
  return `${id} keeps: ${kept.join(", ")}`
}

const compact = async (backend: Backend, id: string): Promise<string> => {
  const report = await backend.contextReport(id, {})
  const compacted = await backend.compactions(id)
  const share = report === undefined ? "its window is empty" : `its window is ${Math.round(report.share * 100)} % full`
  const so = `${share}, ${counted(compacted.length, "compaction")} so far`
  const view = await backend.view(id)
  if (view?.state.startsWith("compacting") === true) return `${id} compacts its history: ${so}`
  await backend.order(id, "compact", {})
  return `${id} is told to compact its history: ${so}`
}

const dream = async (backend: Backend, id: string): Promise<string> => {
  const last = dreamsText(id, (await backend.dreams(id)).slice(-1))
  const view = await backend.view(id)
  if (view?.state.startsWith("dreaming") === true) return `${id} dreams\n${last}`
  await backend.order(id, "sleep", {})
  return `${id} is told to sleep\n${last}`
}

const undo = async (backend: Backend, id: string): Promise<string> => {
  const newest = (await backend.compactions(id)).findLast(({ undone_at }) => undone_at === undefined)
  if (newest === undefined) return `nothing of ${id}'s history is compacted`
  await backend.undoCompaction(id, newest.id)
  return `${id} is told to take ${newest.id} back`
}

const cost = async (backend: Backend, id: string): Promise<string> => {
  const subAgentTree = await backend.subAgentTree(id)
  if (subAgentTree === undefined) return `nothing is known of ${id}`
  const { calls, costMicros, tokens } = subAgentTree.spent
  return `${counted(calls, "model call")}, ${tokens} tokens, ${(costMicros / 1_000_000).toFixed(4)} in money`
}

const answers: Readonly<Record<string, (backend: Backend, id: string) => Promise<string>>> = {
  "/state": state,
  "/context": context,
  "/memory": memory,
  "/compact": compact,
  "/dream": dream,
  "/undo": undo,
  "/cost": cost
}

/** True when it was one of these; the answer has been told. */
export const answerSlash = async (backend: Backend, id: string, command: string): Promise<boolean> => {
  const answer = Object.hasOwn(answers, command) ? answers[command] : undefined
  if (answer === undefined) return false
  say(plain(await answer(backend, id)))
  return true
}
