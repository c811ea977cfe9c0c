// Lanes: the steps that run another lane of this repository for a short while, and count what it went through.
// Owns how long is short. Leaves what a lane checks, and its exit code, to the lane.

import { packed } from "./packed.ts"
import { allOf, run } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

/** What the report of a lane says of itself as a whole; 0 where it is none, so that the step fails. */
const countIn = (report: string, counted: string): number => {
  try {
    const { [counted]: count } = JSON.parse(report) as Readonly<Record<string, unknown>>
    return typeof count === "number" ? count : 0
  } catch {
    return 0
  }
}

const prove = async (script: string, args: ReadonlyArray<string>, counted: string): Promise<Outcome> => {
  const said = await run("npm", ["run", "-s", script, "--", ...args, "--json"])
  return { ok: said.code === 0, count: countIn(said.stdout, counted), output: allOf(said) }
}

/** Known when the step begins: the check says it to all that it starts. */
const atLength = <A>(short: A, whole: A): A => (process.env["REVERIE_LENGTH"] === "long" ? whole : short)

const laneStep = (script: string, args: ReadonlyArray<string>, counted: string): Step => ({
  name: script,
  unit: counted,
  prove: () => prove(script, args, counted)
})

export const crash = laneStep("crash", ["--kills", "10"], "kills")
/** What a user meets that no test inside a process can do to it. `npm run attack -- --short` has ten more, whose subjects have tests. */
const attacks =
  "two-starts,read-files-and-look,directory-removed,store-emptied,one-bad-page,open-rights,stray-tools,strays-of-nobody,rebound-page," +
  "three-long-texts,five-at-once,small-storm,small-doors,model-away,hostile-models,prompts-go-on,swallowed-in-silence"

/** Without planted faults; in a long check the short form of every attack that has one. */
export const attack: Step = {
  name: "attack",
  unit: "acknowledged",
  prove: () => prove("attack", ["--short", "--no-plants", ...atLength(["--only", attacks], [])], "acknowledged")
}
export const simulate: Step = {
  name: "simulate",
  unit: "seeds",
  prove: () => prove("simulate", ["--seeds", atLength("60", "200")], "seeds")
}
/** The tarball in empty folders, on this Node, without the network. */
export const outside: Step = {
  name: "outside",
  unit: "examined",
  prove: async () => prove("outside", ["--short", "--tarball", (await packed()).tarball], "examined")
}
