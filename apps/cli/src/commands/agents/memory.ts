// Memory: what an assistant remembers.
// Owns the readings of it, and the making anew of its index. Leaves finding to the SDK, the form to memory-text.ts.
// M1  It works beside a running fleet: all it ever writes is the index, which follows from the rest.

import { defined } from "@reverie/protocol"
import type { RecallOptions } from "reverie"
import { CommandFailed } from "../../failure.ts"
import { dreamsText, factsText, profilesText, recalledText } from "../../texts/memory-text.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { counted } from "../../texts/table.ts"
import type { LookOptions } from "./agents.ts"

export type MemoryView = "overview" | "recall" | "facts" | "profiles" | "dreams" | "rebuild"

export interface MemoryOptions extends LookOptions {
  readonly limit: number
  readonly scope?: NonNullable<RecallOptions["scope"]>
  readonly mode?: NonNullable<RecallOptions["mode"]>
  readonly kind?: NonNullable<RecallOptions["kinds"]>
}

/** What is shown: a JSON object, and the same for people. */
interface Shown {
  readonly json: object
  readonly text: string
}

const recalled = async (backend: Backend, id: string, question: string, options: MemoryOptions): Promise<Shown> => {
  const { kind, limit, mode, scope } = options
  const answer = await backend.recall(id, question, {
    limit,
    ...defined({ scope, mode, kinds: kind })
  })
  return { json: { question, ...answer }, text: recalledText(id, answer) }
}

const overview = async (backend: Backend, id: string): Promise<Shown> => {
  const kept = await backend.kept(id)
  const words = { journal: "journal entry", fact: "fact", entity: "profile", passage: "passage", dream: "dream" }
  const many: Readonly<Record<string, string>> = { journal: "journal entries" }
  const lines = Object.entries(words).map(([kind, word]) => counted(kept[kind] ?? 0, word, many[kind] ?? `${word}s`))
  return { json: { kept }, text: `${id} keeps ${lines.join(", ")}` }
}

const rebuilt = async (backend: Backend, id: string): Promise<Shown> => {
  const { entries, memories } = await backend.rebuild(id)
  const text = `${id}: ${counted(memories, "memory", "memories")} made anew from ${counted(entries, "entry", "entries")}`
  return { json: { entries, memories }, text }
}

const shown = async (
  backend: Backend,
  id: string,
  view: MemoryView,
  question: string | undefined,
  options: MemoryOptions
): Promise<Shown> => {
  switch (view) {
    case "recall":
      return recalled(backend, id, question ?? "", options)
    case "facts": {
      const facts = await backend.facts(id)
      return { json: { facts }, text: factsText(id, facts) }
    }
    case "profiles": {
      const profiles = await backend.profiles(id)
      return { json: { profiles }, text: profilesText(id, profiles) }
    }
    case "dreams": {
      const dreams = await backend.dreams(id)
      return { json: { dreams: dreams.map(({ value }) => value) }, text: dreamsText(id, dreams) }
    }
    case "rebuild":
      return rebuilt(backend, id)
    case "overview":
      return overview(backend, id)
  }
}

export const memory = async (
  name: string,
  view: MemoryView,
  question: string | undefined,
  options: MemoryOptions,
  stop: Stop
): Promise<number> => {
  if (view === "recall" && (question ?? "").trim() === "") {
    throw new CommandFailed("usage", "recall needs a question", { hint: `reverie memory ${name} recall "QUESTION"` })
  }
  if (view !== "recall" && question !== undefined) {
    throw new CommandFailed("usage", `${view} takes no question`, { hint: `reverie memory ${name} recall "QUESTION"` })
  }
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const { json, text } = await shown(backend, id, view, question, options)
  if (options.json) sayJson({ ok: true, assistant: id, ...json })
  else say(text)
  return 0
}
