// Start: the example fleet, its day, and a chat; and the same with a fleet of one's own (`dev`).
// Owns which files that is. Leaves the course to course.ts.
// S1  It asks no server and needs no key unless told so: the day was written for the offline model.

import { defined } from "@reverie/protocol"
import { fileURLToPath } from "node:url"
import { runCourse } from "../../running/course.ts"
import { loadFleet } from "../../running/fleet-file.ts"
import { note, painted } from "../../output.ts"
import type { Stop } from "../../running/stop.ts"
import type { Where } from "../../backend/find-backend.ts"
import { needsFleet } from "./run.ts"

const harbor = (file: string): string =>
  fileURLToPath(new URL(`../../../../../examples/harbor/${file}`, import.meta.url))
/** In the package `reverie` it is JavaScript, as everything there. */
const fleetFile = import.meta.url.endsWith(".ts") ? "fleet.ts" : "fleet.js"

export interface StartOptions {
  readonly data: string
  readonly model: string
  readonly force: boolean
  readonly exit: boolean
  readonly json: boolean
  readonly quiet: boolean
  readonly port?: number
  readonly page: boolean
  readonly server: boolean
}

const isSet = (name: string): boolean => (process.env[name] ?? "") !== ""

/** Where it listens, as it was said. */
export const serverOf = ({ page, port }: { readonly page: boolean; readonly port?: number }) => ({
  withPage: page,
  ...defined({ port })
})

/** What the example answers, each in a way of its own. */
const hints = [
  "say       Is there a berth for a ship of 34 metres with a draught of 3.2?",
  '          Please assign the Birch berth to the ship "Aurora".       it asks you first: /approve',
  '          /to archivist, then: Could you find the record of the ship "Kestrel", please.',
  `your own  ${import.meta.url.endsWith(".ts") ? "npm run -s reverie -- init my-fleet" : "npx reverie init my-fleet"}`
]

export const start = async (options: StartOptions, stop: Stop): Promise<number> => {
  if (!options.quiet && !options.json) note(painted("dim", `starting the fleet of the harbour in ${options.data} ...`))
  const fleet = await loadFleet(harbor(fleetFile))
  if (options.model === "offline" && (isSet("OPENAI_API_KEY") || isSet("OPENAI_BASE_URL"))) {
    note(painted("dim", "OPENAI_* is set and not used here; --model env plays the day with that model"))
  }
  return runCourse({
    fleet,
    data: options.data,
    events: harbor("day.jsonl"),
    ...defined({ model: options.model === "env" ? undefined : ("offline" as const) }),
    force: options.force,
    exit: options.exit,
    json: options.json,
    jsonl: false,
    quiet: options.quiet,
    resume: false,
    patienceMillis: 5_000,
    hints,
    // Who ends after the report is looked at by no one.
    ...defined({ server: options.exit || !options.server ? undefined : serverOf(options) }),
    stop
  })
}

// Dev: a fleet kept up, with everything it does on the screen, its page, and a chat.

export type DevOptions = Where & Pick<StartOptions, "force" | "page" | "port" | "server">

export const dev = async (options: DevOptions, stop: Stop): Promise<number> =>
  runCourse({
    fleet: await loadFleet(needsFleet(options.fleet, "dev")),
    data: options.data,
    ...defined({ model: options.model === "offline" ? ("offline" as const) : undefined }),
    force: options.force,
    exit: false,
    json: false,
    jsonl: false,
    quiet: false,
    resume: false,
    patienceMillis: 0,
    ...defined({ server: options.server ? serverOf(options) : undefined }),
    stop
  })
