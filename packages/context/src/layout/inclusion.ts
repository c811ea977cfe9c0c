// Inclusion: which components a context has.
// Owns the rule for static, reserved and pluggable ones. Leaves their texts to `collect.ts`.
// I1  Nothing that is not enabled is ever in (F19).
// I2  A static component is in when the context lists its id; a reserved one when the context lists its companion's.
// I3  What is plugged in is in when the context lists its id, or that of the static component it stands behind (A4).

import { isStaticId, reservedComponent, staticBefore } from "./scheme.ts"

export interface Includable {
  readonly id: number
  readonly enabled: boolean
  /** What it was plugged in behind; found from its id when not said. */
  readonly afterStatic?: number
}

export const isIncluded = (
  { afterStatic, enabled, id }: Includable,
  enabledComponents: ReadonlyArray<number> | undefined
): boolean => {
  if (!enabled) return false
  if (enabledComponents === undefined || enabledComponents.includes(id)) return true
  if (isStaticId(id)) return false
  return enabledComponents.includes(reservedComponent(id)?.companion ?? afterStatic ?? staticBefore(id))
}
