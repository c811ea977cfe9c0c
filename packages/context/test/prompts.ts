// Prompts: what parts of a prompt are tested with.
// Owns a block and rules, and the rule text that must come out byte for byte.

import type { ToolRule } from "@reverie/protocol"
import type { PromptBlock } from "../src/index.ts"

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
