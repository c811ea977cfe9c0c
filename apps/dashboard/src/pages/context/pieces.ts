// Pieces: a prompt as the bar and the table show it: its parts, the tools, the reserve for the answer, and what is free.
// Owns names, colours, and what the context window is. Leaves the report to the server.
// K1  The pieces of a window are the whole window: parts, tools, free and reserve together.
// K2  A part has the same colour in every report.

import type { Answer } from "../../api/contract.ts"

export type Report = Answer<"GET /v1/assistants/:id/context">

export interface Piece {
  readonly key: string
  readonly name: string
  readonly tokens: number
  readonly messages?: number
  readonly colour: string
  readonly kind: "part" | "tools" | "free" | "reserve"
}

const colours: Readonly<Record<string, string>> = {
  system_prompt: "light-dark(#2f5fb3, #6c9be8)",
  core_blocks: "light-dark(#7a4fc4, #a98bee)",
  working_blocks: "light-dark(#9a5fb8, #c9a6f2)",
  activity: "light-dark(#5d6fb8, #9aa8e6)",
  tool_rules: "light-dark(#8a5a3c, #cf9c78)",
  plan_first: "light-dark(#7d6a55, #bfa98f)",
  character_context: "light-dark(#85700f, #d3be52)",
  active_project: "light-dark(#6b7d10, #b0cd55)",
  session_memory: "light-dark(#3f7a52, #7fc797)",
  entity_context: "light-dark(#3f7d22, #86c567)",
  semantic_memories: "light-dark(#0b776b, #37bfae)",
  context_buffer: "light-dark(#1b7891, #5cc3db)",
  goals: "light-dark(#a8447c, #e38abb)",
  conversation_history: "light-dark(#a85a0c, #eea24c)",
  pending_event: "light-dark(#3572c6, #8db5f2)",
  tool_result: "light-dark(#b0493c, #ee8f80)",
  tools: "light-dark(#5f6d7c, #8a98a8)"
}

const others = [
  "light-dark(#3f7fd6, #8db5f2)",
  "light-dark(#a8447c, #e38abb)",
  "light-dark(#8f7a12, #d3be52)",
  "light-dark(#1f8ca6, #5cc3db)",
  "light-dark(#b0493c, #ee8f80)",
  "light-dark(#5d6fb8, #9aa8e6)",
  "light-dark(#6f8f12, #b0cd55)",
  "light-dark(#8a5a3c, #cf9c78)"
]

const hashOf = (key: string): number => [...key].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0, 7)

const colourOf = (key: string): string => colours[key] ?? others[hashOf(key) % others.length] ?? "gray"

export const nameOf = (key: string): string => key.replaceAll("_", " ")

/** What prompt and answer may be together: told by the share, which is of the whole window. */
export const windowOf = ({ limit, share, tokens }: Report): number =>
  share > 0 ? Math.max(limit, Math.round(tokens / share)) : Math.max(limit, 1)

export const piecesOf = (report: Report): ReadonlyArray<Piece> => {
  const { limit, parts, tokens, toolTokens } = report
  const window = windowOf(report)
  const seen = new Map<string, number>()
  const named = parts.map(({ key, messages, tokens }): Piece => {
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    return {
      key: before === 0 ? key : `${key}.${before + 1}`,
      name: nameOf(key),
      tokens,
      messages,
      colour: colourOf(key),
      kind: "part"
    }
  })
  const tools: Piece = {
    key: "tools",
    name: "tool schemas",
    tokens: toolTokens,
    colour: colourOf("tools"),
    kind: "tools"
  }
  return [
    ...named,
    ...(toolTokens > 0 ? [tools] : []),
    { key: "free", name: "free", tokens: Math.max(0, limit - tokens), colour: "transparent", kind: "free" },
    {
      key: "reserve",
      name: "kept for the answer",
      tokens: Math.max(0, window - Math.max(limit, tokens)),
      colour: "var(--context-reserve)",
      kind: "reserve"
    }
  ]
}

/** Whether there are words behind it. */
export const hasWords = ({ kind }: Piece): boolean => kind === "part" || kind === "tools"
