export { updateEntityObservationTool } from "./entity-tools.ts"
export { addJournalEntryTool } from "./journal-tools.ts"
export { selfTools } from "./self-tools.ts"
