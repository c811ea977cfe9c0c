// Phases: the parts of a dream and of a compaction, in their order.
// Owns their names. Leaves what they lead to to machine.ts.

/** The operations of a dream. */
export const dreamOperations = ["consolidating", "linking", "profiling", "reflecting", "pruning"] as const
export type DreamOperation = (typeof dreamOperations)[number]

export const compactionPhases = ["extracting", "summarizing", "replacing"] as const
export type CompactionPhase = (typeof compactionPhases)[number]
