// Ground: what `reverie/testing` puts under a fleet, and no option of production says.
// Owns the way in. Leaves what is put there to testing/.
// G1  Only a caller inside this package has the key: a production fleet stands on its own layer alone.

import type * as Layer from "effect/Layer"
import type { FleetOptions } from "../fleet-options.ts"
import type { Services } from "./deployment.ts"

/** Dresses the layer of a fleet. */
export type Ground = <A>(layer: Layer.Layer<A | Services, unknown>) => Layer.Layer<A | Services, unknown>

const GROUND = Symbol("reverie ground")

type Grounded = FleetOptions & { readonly [GROUND]?: Ground }

/** The model of such options is the only one that is asked, whatever the definitions say. */
export const onGround = (options: FleetOptions, ground: Ground): FleetOptions => {
  const grounded: Grounded = { ...options, [GROUND]: ground }
  return grounded
}

export const onlyModelOf = (options: Grounded): FleetOptions["model"] =>
  options[GROUND] === undefined ? undefined : options.model

/** The ground of these options; the layer as it is when there is none. */
export const groundOf = (options: Grounded): Ground => options[GROUND] ?? ((layer) => layer)
