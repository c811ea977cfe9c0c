export type { McpFleet } from "./mcp-fleet.ts"
export { mcpMount } from "./mount.ts"
export { type McpSource, type McpStdioOptions, type RunningMcp, serveMcpStdio } from "./stdio.ts"
