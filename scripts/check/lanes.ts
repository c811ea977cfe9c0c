// Lanes: the steps that run another lane of this repository for a short while, and count what it went through.
// Owns how long is short. Leaves what a lane checks, and its exit code, to the lane.

import { packed } from "./packed.ts"
import { allOf, run } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

const prove = async (script: string, args: ReadonlyArray<string>, counted: string): Promise<Outcome> => {
  const said = await run("npm", ["run", "-s", script, "--", ...args, "--json"])
  const count = new RegExp(`"${counted}":\\s*(\\d+)`).exec(said.stdout)?.[1]
  return { ok: said.code === 0, count: Number(count ?? 0), output: allOf(said) }
}

const laneStep = (script: string, args: ReadonlyArray<string>, counted: string): Step => ({
  name: script,
  unit: counted,
  prove: () => prove(script, args, counted)
})

export const crash = laneStep("crash", ["--kills", "10"], "kills")
/** The quick ones, without planted faults. */
export const attack = laneStep("attack", ["--short", "--no-plants"], "acknowledged")
export const simulate = laneStep("simulate", ["--seeds", "100"], "seeds")
/** The tarball in empty folders, on this Node, without the network. */
export const outside: Step = {
  name: "outside",
  unit: "examined",
  prove: async () => prove("outside", ["--short", "--tarball", (await packed()).tarball], "examined")
}
