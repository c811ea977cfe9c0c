export {
  type AgentFile,
  AgentFileUnreadable,
  type LeftBehind,
  MAX_AGENT_FILE_BYTES,
  readAgentFile
} from "../letta/agent-file.ts"
export {
  type AgentImportOptions,
  type AgentsImported,
  importAgentFile,
  type ImportedAgent
} from "../letta/import-agent-file.ts"
export * from "./errors.ts"
export { EXPORT_VERSION, type ExportHeader, type ExportManifest, MAX_LINE_BYTES } from "./export-lines.ts"
export { exportFleet, type ExportOptions } from "./export-fleet.ts"
export {
  type Checked,
  checkExport,
  type Imported,
  importFleet,
  type ImportOptions,
  type ExportSource
} from "./import-fleet.ts"
export { type DataStoreMoved, moveDataStore, type MoveOptions, reopenDataStore } from "./move-data-store.ts"
export { type DataStorePlace, placeName } from "./place.ts"
