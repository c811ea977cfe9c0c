// Dev: a fleet kept up, with everything it does on the screen, its page, and a chat.

import { defined } from "@reverie/protocol"
import { runCourse } from "../../running/course.ts"
import { loadFleet } from "../../running/fleet-file.ts"
import type { Where } from "../../backend/find-backend.ts"
import type { Stop } from "../../running/stop.ts"
import { needsFleet } from "./run.ts"
import { serverOf, type StartOptions } from "./start.ts"

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
