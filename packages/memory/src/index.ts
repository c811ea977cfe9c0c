export * from "./blocks/index.ts"
export * from "./asked.ts"
export * from "./entry.ts"
export * from "./errors.ts"
export * from "./fact.ts"
export * from "./facts/index.ts"
export * from "./index-position.ts"
export * from "./indexing/index.ts"
export * from "./integrity/index.ts"
export * from "./lived.ts"
export * from "./passage.ts"
export * from "./profiles/index.ts"
export * from "./recall.ts"
export * from "./recalled.ts"
export * from "./text/index.ts"
export {
  type Conversation,
  expired,
  NOTHING_WORKING,
  noteLine,
  WORKING_TTL_MILLIS,
  workingText,
  type WorkingLine,
  type WorkingMemory
} from "./working.ts"
