export { ListenRefused } from "./errors.ts"
export { openServer, type RunningServer, type ServerOptions } from "./open-server.ts"
export { type Token, tokensFrom } from "./tokens.ts"
