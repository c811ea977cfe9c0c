// LackingText: assistants of a data directory whose data keys are not in it.
// Owns the sentence, and what helps. Leaves finding them to the SDK.

import type { KeysLacking } from "reverie"

const MOST_NAMED = 5

export const lackingText = ({ assistants }: KeysLacking): string => {
  const more = assistants.length > MOST_NAMED ? ` and ${assistants.length - MOST_NAMED} more` : ""
  const which = `${assistants.slice(0, MOST_NAMED).join(", ")}${more}`
  return `the data keys there do not open ${which}: forgotten since, or given other keys`
}

/** Older keys would undo a forgetting: so it is said first. */
export const LACKING_CURE =
  "whom you forgot stays closed: do nothing, or forget it again to remove what is left; else the keys.db there is of another time: " +
  "put the one of the time of that data in its place, and keep that one"
