// FleetStub: a fleet file that defines the assistants of an agent file.
// Owns its text. Leaves the code of their tools to a person.
// T1  Nothing of the agent file is code in it: texts are string literals, schemas are parsed from one, and names in
//     comments stand on one line.

import type { AgentDraft, AgentTool } from "./agent-file.ts"

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
    `prompt: ${literal(system.trim() === "" ? `You are ${id}.` : system)}`,
    `tools: [${own.join(", ")}]`,
    ...(rules.length === 0 ? [] : [`rules: JSON.parse(${literal(JSON.stringify(rules))})`]),
    ...(contextTokens === undefined ? [] : [`maxContextTokens: ${contextTokens}`])
  ]
  return `    defineAssistant({\n${lines.map((line) => `      ${line}`).join(",\n")}\n    })`
}

export const fleetStub = (agents: ReadonlyArray<AgentDraft>): string => {
  const names = agents.map(({ tools }, index) => (tools.length === 0 ? undefined : `tools${index + 1}`))
  const needs = names.some((name) => name !== undefined)
  const imported = ["blockTools", "defineAssistant", "defineFleet", ...(needs ? ["defineTool"] : []), "memoryTools"]
  const tools = agents.map((agent, index) => toolText(names[index] ?? "", agent.tools)).join("")
  return `// Made from an agent file. Memory blocks and history are in the data directory; this is what the assistants are told.
import { ${imported.join(", ")} } from "reverie"
${tools}
export default defineFleet({
  assistants: [
${agents.map((agent, index) => assistantText(agent, names[index])).join(",\n")}
  ]
})
`
}
