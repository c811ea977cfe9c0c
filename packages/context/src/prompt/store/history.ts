// History: what undoing means on a line of versions that only grows.
// Owns which version an undo brings back. Leaves writing it to the registry.
// H1  An undo is a version itself, and shows what the version before the undone change showed.
// H2  Undoing again goes one change further back, never forth: after as many undos as there were changes the line
//     shows what it showed before the first.
// H3  A change after an undo is undone to what it was made on.

import type { PromptVersion } from "./prompt-store.ts"

/** The version whose body a version shows: itself, or the one it brought back. 0 is the time before the first. */
export const shownBy = ({ restores, version }: Pick<PromptVersion, "version" | "restores">): number =>
  restores ?? version

/**
 * The version that was shown before the change that `newest` shows. `before` is the version just ahead of that change,
 * absent when there is none. Undefined when no change is left to undo.
 */
export const undone = (
  newest: Pick<PromptVersion, "version" | "restores">,
  before: Pick<PromptVersion, "version" | "restores"> | undefined
): number | undefined => {
  if (shownBy(newest) === 0) return undefined
  return before === undefined ? 0 : shownBy(before)
}
