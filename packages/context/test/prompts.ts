// Prompts: what builders are tested with.
// Owns a few blocks, rules and tools, and the rule text that must come out byte for byte.

import type { ToolRule } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  type ContextBuildConfig,
  contextBuilder,
  DEFAULT_BUILD_CONFIG,
  openPriceBook,
  type PromptBlock
} from "../src/index.ts"
import { count } from "./histories.ts"
import { type BuiltContext, type ReadyContextBuilder } from "../src/builder.ts"

export const block = (label: string, more: Partial<PromptBlock> = {}): PromptBlock => ({
  id: `id-${label}`,
  label,
  type: "core",
  permission: "ReadWrite",
  content: `${label} content`,
  ...more
})

export const bare = { includeDescriptions: false, includeSchemas: false }

export const RULES: ReadonlyArray<ToolRule> = [
  { type: "exit", tool: "send_message" },
  { type: "continue", tool: "search" },
  { type: "max-calls", tool: "api_request", max: 3 },
  { type: "start", tool: "context" }
]

export const RULES_TEXT = `# Tool Execution Rules

- Call \`context\` first before any other tools
- The conversation will end after calling \`send_message\`
- The conversation will be continued after calling \`search\`
- Call \`api_request\` at most 3 times`

export const begin = (config: Partial<ContextBuildConfig> = {}) =>
  contextBuilder({ ...DEFAULT_BUILD_CONFIG, ...config }, openPriceBook(count)).withBaseInstructions("You are Entropy.")

export const built = (builder: ReadyContextBuilder): BuiltContext => Result.getOrThrow(builder.build())

export const contents = ({ messages }: BuiltContext): ReadonlyArray<string> => messages.map(({ content }) => content)

export const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters: {} })
