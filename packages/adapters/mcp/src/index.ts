import { defineMcpServer, type McpServerOptions } from "./options.ts"
import { type McpTools, mcpTools } from "./tools.ts"

export { McpServerInvalid, McpToolsRefused, McpUnavailable } from "./errors.ts"
export { defineMcpServer, type McpServerOptions } from "./options.ts"
export { pinsText } from "./listing.ts"
export { type McpTools, mcpTools } from "./tools.ts"

/**
 * The allowed tools of an MCP server, ready to be given to an assistant.
 *
 * @example
 * await using files = await mcpServer({ name: "files", transport: { command: "mcp-files" }, allow: ["read_file"] })
 * const desk = defineAssistant({ id: "desk", prompt: "You keep the files.", tools: [...files.tools] })
 */
export const mcpServer = (options: McpServerOptions): Promise<McpTools> => mcpTools(defineMcpServer(options))
