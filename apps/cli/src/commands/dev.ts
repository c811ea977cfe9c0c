// Dev: a fleet kept up, with everything it does on the screen and a chat.

import { runCourse } from "../course.ts"
import { loadFleet } from "../fleet-file.ts"
import type { Stop } from "../stop.ts"
import type { RunOptions } from "./run.ts"

export const dev = async (options: Pick<RunOptions, "fleet" | "data" | "model">, stop: Stop): Promise<number> =>
  runCourse({
    fleet: await loadFleet(options.fleet),
    data: options.data,
    ...(options.model === "offline" ? { model: "offline" as const } : {}),
    exit: false,
    json: false,
    jsonl: false,
    quiet: false,
    resume: false,
    patienceMillis: 0,
    stop
  })
