// AgentFile: an agent file of Letta (.af) as what of it can be carried over, and what can not.
// Owns both forms of the file, the older one of a single agent and the newer one of several, and how much of one is read.
// Leaves messages to agent-messages.ts, rules to agent-file.ts.
// E1  The file is not trusted: it is bounded in size and depth, its keys are never used as such, its text is cleaned.
// E2  Nothing in it is run. The code of tools is not even read.
// E3  What is not carried over is reported, with how often.

import { isJsonObject, type Json, type Message, parseJson, type ToolRule } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { messagesOf } from "./agent-messages.ts"
import { isOwnTool, type JsonObject, type Leave, lineIn, listIn, objectIn, textIn } from "./reading.ts"

// AgentRules: tool rules of Letta as ours.

const MAX_RULES = 256

const nameIn = (value: Json | undefined): string =>
  textIn(value)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .slice(0, 64)

const ruleOf = (rule: { readonly [key: string]: Json }): ReadonlyArray<ToolRule> | string => {
  const tool = nameIn(rule["tool_name"])
  switch (rule["type"]) {
    case "run_first":
    case "InitToolRule":
      return [{ type: "start", tool }]
    case "exit_loop":
    case "TerminalToolRule":
      return [{ type: "exit", tool }]
    case "continue_loop":
      return [{ type: "continue", tool }]
    case "max_count_per_step": {
      const max = rule["max_count_limit"]
      return typeof max === "number" && Number.isSafeInteger(max) && max > 0
        ? [{ type: "max-calls", tool, max }]
        : "it names no limit"
    }
    case "parent_last_tool":
      // Theirs says directly after it, ours at any time after it.
      return listIn(rule["children"])
        .map(nameIn)
        .filter((child) => child !== "" && child !== tool)
        .map((child) => ({ type: "requires", tool: child, prior: [tool] }))
    default:
      return "there is no rule like it here"
  }
}

const rulesOf = (given: ReadonlyArray<Json>, names: ReadonlySet<string>, leave: Leave): ReadonlyArray<ToolRule> => {
  const rules: Array<ToolRule> = []
  for (const each of given.slice(0, MAX_RULES)) {
    if (!isJsonObject(each)) continue
    const tool = nameIn(each["tool_name"])
    const what = `the rule ${textIn(each["type"]).slice(0, 60)} of ${tool}`
    if (tool === "" || isOwnTool(tool)) {
      if (tool !== "") leave(what, "Reverie does what this tool did in its own way")
      continue
    }
    const found = ruleOf(each)
    if (typeof found === "string") leave(what, found)
    else
      for (const rule of found)
        if (!names.has(rule.tool)) leave(what, `the file has no tool ${JSON.stringify(rule.tool)}`)
        else if (!rules.some((known) => JSON.stringify(known) === JSON.stringify(rule))) rules.push(rule)
  }
  return rules
}

/** The largest agent file that is read. */
export const MAX_AGENT_FILE_BYTES = 64 * 1024 * 1024
const MAX_AGENTS = 100
const MAX_BLOCKS = 64
const MAX_TOOLS = 256
const MAX_BLOCK_CHARS = 100_000

/**
 * The file is no agent file, or too large for one. Nothing of it was taken in.
 * @example if (error instanceof AgentFileUnreadable) console.error(error.message)
 */
export class AgentFileUnreadable extends Schema.TaggedError<AgentFileUnreadable>()("AgentFileUnreadable", {
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

export interface AgentBlock {
  /** The same for every agent of the file that has it. */
  readonly key: string
  readonly label: string
  readonly value: string
  readonly charLimit: number
  readonly description: string
  readonly isReadOnly: boolean
}

export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments. */
  readonly input: JsonObject
}

export interface AgentDraft {
  readonly id: string
  readonly name: string
  readonly system: string
  readonly model: string
  readonly contextTokens: number | undefined
  readonly blocks: ReadonlyArray<AgentBlock>
  readonly messages: ReadonlyArray<Omit<Message, "tokens">>
  readonly rules: ReadonlyArray<ToolRule>
  /** Tools whose code has to be written again. */
  readonly tools: ReadonlyArray<AgentTool>
  /** Names of environment variables its tools were given; their values are not carried over. */
  readonly secrets: ReadonlyArray<string>
}

/** Something that was left behind. */
export interface LeftBehind {
  /** Whose it was. */
  readonly agent: string
  /** What it was. */
  readonly what: string
  /** Why it was left behind, and what to do. */
  readonly why: string
}

/** An agent file of Letta, as it was read. */
export interface AgentFile {
  /** Of several agents with what they share, or the older form of one. */
  readonly form: "agents" | "agent"
  /** The agents, ready to be created. */
  readonly agents: ReadonlyArray<AgentDraft>
  /** What has no place here, each with the reason. */
  readonly left: ReadonlyArray<LeftBehind>
}

const refuse = (message: string): never => {
  throw new AgentFileUnreadable({ message })
}

/** An id as ours are, made of a name. */
const idOf = (name: string, place: number, taken: ReadonlySet<string>): string => {
  const plain = name.normalize("NFKD").replaceAll(/[^A-Za-z0-9._-]+/g, "-")
  const trimmed = plain.replaceAll(/^[-.]+|[-.]+$/g, "").slice(0, 100)
  const base = trimmed === "" ? `agent-${place}` : trimmed
  let id = base
  for (let again = 2; taken.has(id); again++) id = `${base}-${again}`
  return id
}

const labelOf = (label: string, taken: ReadonlySet<string>): string => {
  const plain = label
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
    .replaceAll(/^[.-]+/g, "")
    .slice(0, 56)
  const base = plain === "" ? "block" : plain
  let found = base
  for (let again = 2; taken.has(found); again++) found = `${base}_${again}`
  return found
}

const blocksOf = (given: ReadonlyArray<Json>, leave: Leave): ReadonlyArray<AgentBlock> => {
  if (given.length > MAX_BLOCKS)
    leave(`${given.length - MAX_BLOCKS} memory blocks`, `more than ${MAX_BLOCKS} are not read`)
  const taken = new Set<string>()
  return given.slice(0, MAX_BLOCKS).map((each, index): AgentBlock => {
    const block = objectIn(each)
    const whole = textIn(block["value"])
    const value = whole.slice(0, MAX_BLOCK_CHARS).toWellFormed()
    const label = labelOf(lineIn(block["label"]), taken)
    taken.add(label)
    if (whole.length > value.length)
      leave(`the end of block ${label}`, `a block has ${MAX_BLOCK_CHARS} characters at most`)
    const limit = typeof block["limit"] === "number" && Number.isSafeInteger(block["limit"]) ? block["limit"] : 0
    return {
      key: typeof block["id"] === "string" ? `id ${lineIn(block["id"])}` : `place ${index}`,
      label,
      value,
      charLimit: Math.min(MAX_BLOCK_CHARS, Math.max(limit, value.length, 5_000)),
      description: lineIn(block["description"]),
      isReadOnly: block["read_only"] === true
    }
  })
}

/** Any text as the name of a tool; undefined when nothing of it could be one. */
const toolName = (value: Json | undefined): string | undefined => {
  const name = lineIn(value)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .slice(0, 64)
  return /[A-Za-z0-9]/.test(name) ? name : undefined
}

const toolsOf = (given: ReadonlyArray<Json>, leave: Leave): ReadonlyArray<AgentTool> => {
  const tools = new Map<string, AgentTool>()
  for (const each of given.slice(0, MAX_TOOLS)) {
    const tool = objectIn(each)
    const schema = objectIn(tool["json_schema"])
    const name = toolName(tool["name"] ?? schema["name"])
    if (name === undefined || isOwnTool(name) || tools.has(name)) continue
    const parameters = objectIn(schema["parameters"])
    const input = parameters["type"] === "object" ? parameters : { type: "object", properties: {} }
    tools.set(name, { name, description: lineIn(tool["description"] ?? schema["description"]), input })
    leave(`the code of tool ${name}`, "code of a file is never run; write it anew in the fleet file")
  }
  return [...tools.values()]
}

const secretsOf = (agent: JsonObject, leave: Leave): ReadonlyArray<string> => {
  const given = agent["tool_exec_environment_variables"]
  const names = Array.isArray(given)
    ? listIn(given).map((each) => lineIn(objectIn(each)["key"]))
    : Object.keys(objectIn(given)).map((name) => lineIn(name))
  const found = names.filter((name) => name !== "")
  for (const name of found)
    leave(`the environment variable ${name}`, "secrets are not carried over; set it where the tools run")
  return found
}

/** What belongs to several agents, by its id in the file. */
interface Parts {
  readonly blocks: ReadonlyMap<string, Json>
  readonly tools: ReadonlyMap<string, Json>
}

const byId = (values: ReadonlyArray<Json>): ReadonlyMap<string, Json> =>
  new Map(
    values.flatMap((value) => {
      const { id } = objectIn(value)
      return typeof id === "string" ? [[id, value]] : []
    })
  )

const namedIn = (ids: Json | undefined, parts: ReadonlyMap<string, Json>): ReadonlyArray<Json> =>
  listIn(ids).flatMap((id) => (typeof id === "string" && parts.has(id) ? [parts.get(id) ?? null] : []))

const draftOf = (value: Json, parts: Parts, place: number, taken: Set<string>, left: Array<LeftBehind>): AgentDraft => {
  const agent = objectIn(value)
  const name = lineIn(agent["name"])
  const id = idOf(name, place, taken)
  taken.add(id)
  const leave: Leave = (what, why) => left.push({ agent: id, what, why })
  const config = objectIn(agent["llm_config"])
  const window = config["context_window"]
  const blocks = [
    ...listIn(agent["core_memory"]),
    ...listIn(agent["memory_blocks"]),
    ...namedIn(agent["block_ids"], parts.blocks)
  ]
  const tools = toolsOf([...listIn(agent["tools"]), ...namedIn(agent["tool_ids"], parts.tools)], leave)
  for (const [key, what] of Object.entries(neverCarried)) {
    const count = listIn(agent[key]).length
    if (count > 0) leave(`${count} ${what}`, "there is nothing like it here")
  }
  return {
    id,
    name,
    system: textIn(agent["system"]),
    model: lineIn(config["model"]),
    contextTokens: typeof window === "number" && Number.isSafeInteger(window) && window > 2_000 ? window : undefined,
    blocks: blocksOf(blocks, leave),
    messages: messagesOf(agent, leave),
    rules: rulesOf(listIn(agent["tool_rules"]), new Set(tools.map(({ name: tool }) => tool)), leave),
    tools,
    secrets: secretsOf(agent, leave)
  }
}

const neverCarried: Readonly<Record<string, string>> = {
  files_agents: "open files",
  source_ids: "data sources",
  group_ids: "groups",
  identity_ids: "identities"
}

const ofFile: Readonly<Record<string, string>> = {
  groups: "groups of agents",
  files: "files",
  sources: "data sources",
  mcp_servers: "MCP servers",
  skills: "skills"
}

/** Reads an agent file; throws AgentFileUnreadable with one sentence. */
export const readAgentFile = (text: string): AgentFile => {
  if (text.length > MAX_AGENT_FILE_BYTES) refuse(`the agent file is longer than ${MAX_AGENT_FILE_BYTES} bytes`)
  const file = Result.getOrElse(parseJson(text), (problem) => refuse(`it is no agent file: ${problem}`))
  if (!isJsonObject(file)) return refuse("it is no agent file: there is no object in it")
  const isNewer = Array.isArray(file["agents"])
  if (!isNewer && (typeof file["agent_type"] !== "string" || !Array.isArray(file["messages"]))) {
    return refuse("it is no agent file: it has neither agents nor an agent_type with messages")
  }
  const agents = isNewer ? listIn(file["agents"]) : [file]
  if (agents.length === 0) return refuse("there is no agent in it")
  if (agents.length > MAX_AGENTS) return refuse(`it has ${agents.length} agents, at most ${MAX_AGENTS} are read`)
  const left: Array<LeftBehind> = []
  const parts: Parts = { blocks: byId(listIn(file["blocks"])), tools: byId(listIn(file["tools"])) }
  const taken = new Set<string>()
  const drafts = agents.map((agent, index) =>
    draftOf(agent, isNewer ? parts : { blocks: new Map(), tools: new Map() }, index + 1, taken, left)
  )
  for (const [key, what] of Object.entries(isNewer ? ofFile : {})) {
    const count = listIn(file[key]).length
    if (count > 0) left.push({ agent: "", what: `${count} ${what}`, why: "they are not carried over" })
  }
  return { form: isNewer ? "agents" : "agent", agents: drafts, left }
}
