export {
  type AgentFile,
  AgentFileUnreadable,
  type LeftBehind,
  MAX_AGENT_FILE_BYTES,
  readAgentFile
} from "../letta/agent-file.ts"
export type { AgentImportOptions, AgentsImported, ImportedAgent } from "../letta/import-agent-file.ts"
export * from "./errors.ts"
export { EXPORT_VERSION, type ExportHeader, type ExportManifest, MAX_LINE_BYTES } from "./export-lines.ts"
export type { ExportOptions } from "./export-fleet.ts"
export type { Checked, Imported, ImportOptions, ExportSource } from "./import-fleet.ts"
export type { DataStoreMoved, MoveOptions } from "./move-data-store.ts"
export { placeName } from "../opening/addresses.ts"
export type { DataStorePlace } from "./place.ts"
