// Guard: the part of `runs.ts` that a process sets up before it loads a fleet.

export { guardProcess } from "./runs.ts"
