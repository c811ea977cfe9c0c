export { fleetHouse } from "./fleet-house.ts"
export type { McpHouse } from "./house.ts"
export { type McpMount, mcpMount } from "./mount.ts"
export { type McpSource, type McpStdioOptions, type RunningMcp, serveMcpStdio } from "./stdio.ts"
