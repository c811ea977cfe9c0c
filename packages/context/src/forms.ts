// Forms: the schema of what a compaction left, for those who load nothing else of this room.

export { Compaction } from "./compaction/record.ts"
