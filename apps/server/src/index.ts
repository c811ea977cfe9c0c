export { ListenRefused } from "./errors.ts"
export { type McpFleet, type McpSource, type McpStdioOptions, type RunningMcp, serveMcpStdio } from "./mcp/index.ts"
export { openServer, type RunningServer, type ServerOptions } from "./open-server.ts"
export { type Token, tokensFrom } from "./http/guard.ts"
