// Forms: the schemas of what is kept, for those who only speak of it.
// Owns the list. Leaves reading a store to look.ts, which costs much more to load.
// K1  No runtime, no store and no model is loaded with it: a command that asks a server needs none.

export { Compaction } from "@reverie/context/forms"
export { EntityProfile, Fact } from "@reverie/memory/forms"
