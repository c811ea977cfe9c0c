// ImportAgentFile: agents of Letta as assistants that live.
// Owns how one is created with a past: in a data store that keeps nothing, out of which it moves like anybody else.
// Leaves reading the file to agent-file.ts, the move to the moving room.
// L1  The same file makes the same assistants: importing it twice finds them present.
// L2  A past is one entry, the creation; what was heard before has no tick here.

import { type CreationEntry, Ledger } from "@reverie/ledger"
import { BlockStore } from "@reverie/memory"
import { Tokens } from "@reverie/model"
import { type AssistantId, DEFAULT_TENANT, defined, type Message, type TenantId } from "@reverie/protocol"
import { creationOf } from "@reverie/runtime"
import { gptTokenizerLayer } from "@reverie/tokens"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import { defineAssistant } from "../define-assistant.ts"
import { defineTool } from "@reverie/tools"
import { MoveRefused } from "../moving/errors.ts"
import { bundlesIn, tenantNamed } from "../moving/bundle-stream.ts"
import { assertReaddress, moveInto } from "../moving/import-fleet.ts"
import type { DataStorePlace } from "../moving/place.ts"
import { type AgentBlock, type AgentDraft, type AgentTool, type LeftBehind, readAgentFile } from "./agent-file.ts"

// FleetStub: a fleet file that defines the assistants of an agent file.
// T1  Nothing of the agent file is code in it: texts are string literals, schemas are parsed from one, and names in
//     comments stand on one line.

/** A literal that is read back as the same text, also by a script in a page. */
const literal = (value: unknown): string =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029").replaceAll("<", "\\u003c")

const toolText = (name: string, tools: ReadonlyArray<AgentTool>): string =>
  tools.length === 0
    ? ""
    : `
// The tools of ${name}. Their code was left behind: write it here.
const ${name} = [
${tools
  .map(
    ({ description, input, name: tool }) => `  defineTool({
    name: ${literal(tool)},
    description: ${literal(description === "" ? tool : description)},
    input: JSON.parse(${literal(JSON.stringify(input))}),
    run: () => "This tool has no code yet."
  })`
  )
  .join(",\n")}
]
`

const assistantText = ({ contextTokens, id, rules, system }: AgentDraft, tools: string | undefined): string => {
  const own = ["...blockTools", "...memoryTools", ...(tools === undefined ? [] : [`...${tools}`])]
  const lines = [
    `id: ${literal(id)}`,
    `instructions: ${literal(system.trim() === "" ? `You are ${id}.` : system)}`,
    `tools: [${own.join(", ")}]`,
    ...(rules.length === 0 ? [] : [`toolRules: JSON.parse(${literal(JSON.stringify(rules))})`]),
    ...(contextTokens === undefined ? [] : [`maxContextTokens: ${contextTokens}`])
  ]
  return `    defineAssistant({\n${lines.map((line) => `      ${line}`).join(",\n")}\n    })`
}

const fleetStub = (agents: ReadonlyArray<AgentDraft>): string => {
  const names = agents.map(({ tools }, index) => (tools.length === 0 ? undefined : `tools${index + 1}`))
  const needs = names.some((name) => name !== undefined)
  const imported = ["blockTools", "defineAssistant", "defineFleet", ...(needs ? ["defineTool"] : []), "memoryTools"]
  const tools = agents.map((agent, index) => toolText(names[index] ?? "", agent.tools)).join("")
  return `// Made from an agent file. Memory blocks and history are in the data directory; these are the instructions of the assistants.
import { ${imported.join(", ")} } from "reverie"
${tools}
export default defineFleet({
  assistants: [
${agents.map((agent, index) => assistantText(agent, names[index])).join(",\n")}
  ]
})
`
}

/** How an agent file is imported. */
export interface AgentImportOptions {
  /** The data directory or the deployment that takes them in. */
  readonly into: DataStorePlace
  /** The text of the file. */
  readonly text: string
  /** New ids by those that were made of the agents' names. */
  readonly rename?: Readonly<Record<string, string>>
  /** Whose they become; "default" when not said. */
  readonly tenant?: string
  /** Judges everything and writes nothing. */
  readonly isTrial?: boolean
  /** Goes on though a move has marked the data store. */
  readonly isForced?: boolean
}

/** One assistant that was imported. */
export interface ImportedAgent {
  /** Its id here. */
  readonly id: string
  /** Its name in the file. */
  readonly name: string
  /** How many messages of its history came along. */
  readonly messages: number
  /** How many memory blocks came along. */
  readonly blocks: number
  /** How many rules of tools came along. */
  readonly rules: number
  /** Tools whose code is to be written. */
  readonly tools: ReadonlyArray<string>
  /** Environment variables its tools were given. */
  readonly secrets: ReadonlyArray<string>
}

/** What was imported, and the fleet file to go on with. */
export interface AgentsImported {
  /** Those that have moved in, as `tenant/assistant`; on a trial, those that would. */
  readonly moved: ReadonlyArray<string>
  /** Those that were there already. */
  readonly present: ReadonlyArray<string>
  /** What each of them brought along. */
  readonly agents: ReadonlyArray<ImportedAgent>
  /** What has no place here, each with the reason. */
  readonly left: ReadonlyArray<LeftBehind>
  /** A fleet file that defines them. */
  readonly fleetFile: string
}

const namesIn = (rules: AgentDraft["rules"]): ReadonlyArray<string> => [
  ...new Set(rules.flatMap((rule) => (rule.type === "requires" ? [rule.tool, ...rule.prior] : [rule.tool])))
]

/** Definitions are judged as those of a user would be; a rule that contradicts another one is left behind. */
const definitionOf = ({ contextTokens, id, rules, system }: AgentDraft) =>
  defineAssistant({
    id,
    instructions: system.trim() === "" ? `You are ${id}.` : system,
    // Their code is written later, in the fleet file; here only the rules are judged.
    tools: namesIn(rules).map((name) => defineTool({ name, description: name, run: () => "" })),
    toolRules: rules,
    ...defined({ maxContextTokens: contextTokens })
  })

/** When the last thing of the past happened. */
const latest = (messages: AgentDraft["messages"]): number => Math.max(0, ...messages.map(({ at }) => at))

const created = (tenant: TenantId, draft: AgentDraft) =>
  Effect.gen(function* () {
    const count = yield* (yield* Tokens).ready
    const address = { tenant, assistant: draft.id as AssistantId }
    const { entry, state } = yield* creationOf(address, definitionOf(draft))
    const messages: ReadonlyArray<Message> = draft.messages.map((message) => ({
      ...message,
      tokens: count(message.content + (message.calls === undefined ? "" : JSON.stringify(message.calls)))
    }))
    const creation: CreationEntry = { address, state, entry: { ...entry, at: latest(draft.messages), messages } }
    yield* (yield* Ledger).create(creation)
    return address
  })

const blockOf = (tenant: TenantId, owner: string, block: AgentBlock) =>
  Effect.gen(function* () {
    const store = yield* BlockStore
    const request = { tenant, by: "agent-file", isSystem: true, at: 0, key: `agent-file/${owner}/${block.label}` }
    const { block: id } = yield* store.create(
      {
        owner,
        label: block.label,
        type: "core",
        permission: block.isReadOnly ? "ReadOnly" : "ReadWrite",
        charLimit: block.charLimit,
        ...defined({
          content: block.value === "" ? undefined : block.value,
          description: block.description === "" ? undefined : block.description
        })
      },
      request
    )
    return id
  })

/** A block of several agents belongs to the first of them and is shared with the others. */
const furnished = (tenant: TenantId, drafts: ReadonlyArray<AgentDraft>) =>
  Effect.gen(function* () {
    const store = yield* BlockStore
    const made = new Map<string, string>()
    for (const { blocks, id: owner } of drafts) {
      for (const block of blocks) {
        const shared = block.key.startsWith("id ") ? made.get(block.key) : undefined
        if (shared === undefined) made.set(block.key, yield* blockOf(tenant, owner, block))
        else {
          const key = `agent-file/${owner}/${block.label}/share`
          const request = { tenant, by: "agent-file", isSystem: true, at: 0, key }
          yield* store.configure(shared, request, { set: "share", with: owner, permission: "ReadWrite" })
        }
      }
    }
  })

/** Nothing of it depends on when it is read. */
const timeless: Clock.Clock = {
  currentTimeMillisUnsafe: () => 0,
  currentTimeMillis: Effect.succeed(0),
  currentTimeNanosUnsafe: () => 0n,
  currentTimeNanos: Effect.succeed(0n),
  monotonicTimeNanosUnsafe: () => 0n,
  monotonicTimeNanos: Effect.succeed(0n),
  sleep: () => Effect.void
}

const renamed = (drafts: ReadonlyArray<AgentDraft>, rename: Readonly<Record<string, string>>) =>
  drafts.map((draft) => ({
    ...draft,
    id: (Object.hasOwn(rename, draft.id) ? rename[draft.id] : undefined) ?? draft.id
  }))

/** Takes the agents of a file in. Rejects with AgentFileUnreadable, MoveRefused, BundleRefused, or what the store says. */
export const importAgentFile = async (options: AgentImportOptions): Promise<AgentsImported> => {
  const { isForced = false, isTrial = false, into, rename = {} } = options
  const tenant = tenantNamed(options.tenant ?? DEFAULT_TENANT)
  const { agents, left } = readAgentFile(options.text)
  const stray = Object.keys(rename).find((name) => !agents.some(({ id }) => id === name))
  if (stray !== undefined) throw new MoveRefused({ message: `there is no agent ${stray} in the file` })
  const drafts = renamed(agents, rename)
  const heads = drafts.map(({ id }) => ({ kind: "assistant", address: { tenant, assistant: id } }) as never)
  assertReaddress(heads, { names: new Map() })
  const cradle = ManagedRuntime.make(
    Layer.mergeAll(storeSqliteLayer(":memory:"), gptTokenizerLayer, Layer.succeed(Clock.Clock, timeless))
  )
  try {
    const assistants = await cradle.runPromise(
      Effect.tap(
        Effect.forEach(drafts, (draft) => created(tenant, draft)),
        furnished(tenant, drafts)
      )
    )
    const services = await cradle.context()
    const outcome = await moveInto(into, {
      place: "agent file",
      bundles: () => bundlesIn(services, { assistants }),
      isTrial,
      isForced
    })
    return {
      ...outcome,
      agents: drafts.map(({ blocks, id, messages, name, rules, secrets, tools }) => ({
        id,
        name,
        messages: messages.length,
        blocks: blocks.length,
        rules: rules.length,
        tools: tools.map((tool) => tool.name),
        secrets
      })),
      left,
      fleetFile: fleetStub(drafts)
    }
  } finally {
    await cradle.dispose()
  }
}
