// Catalogue: every attack and every planted fault, by name.
// C1  Names are unique, and every planted fault names an attack that there is.

import { join } from "node:path"
import type { Attack, Plant } from "./attack.ts"
import { asWritten } from "./attacks/as-written.ts"
import { bursts } from "./attacks/bursts.ts"
import { compactionsHold } from "./attacks/compactions-hold.ts"
import { crashingTools } from "./attacks/crashing-tools.ts"
import { crashingWorkers } from "./attacks/crashing-workers.ts"
import { damage } from "./attacks/damage.ts"
import { diary } from "./attacks/diary.ts"
import { disksAndClocks } from "./attacks/disks-and-clocks.ts"
import { hostileModels } from "./attacks/hostile-models.ts"
import { hostileRules } from "./attacks/hostile-rules.ts"
import { hostileServers } from "./attacks/hostile-servers.ts"
import { isolatedTools } from "./attacks/isolated-tools.ts"
import { longTextsWorkers } from "./attacks/long-texts-workers.ts"
import { longTexts } from "./attacks/long-texts.ts"
import { modelOutageWorkers } from "./attacks/model-outage-workers.ts"
import { modelOutage } from "./attacks/model-outage.ts"
import { oldAge } from "./attacks/old-age.ts"
import { ownership } from "./attacks/ownership.ts"
import { promptParts } from "./attacks/prompt-parts.ts"
import { promptsGoOn } from "./attacks/prompts-go-on.ts"
import { readingFiles } from "./attacks/reading-files.ts"
import { reboundPage } from "./attacks/rebound-page.ts"
import { refusedKey } from "./attacks/refused-key.ts"
import { reminders } from "./attacks/reminders.ts"
import { restoredStore } from "./attacks/restored-store.ts"
import { smallDoor } from "./attacks/small-doors.ts"
import { storms } from "./attacks/storms.ts"
import { strayTools } from "./attacks/stray-tools.ts"
import { talked } from "./attacks/talked-of.ts"
import { workersSeen } from "./attacks/workers.ts"

export const attacks: ReadonlyArray<Attack> = [
  ...disksAndClocks,
  ...hostileServers,
  ...readingFiles,
  ...ownership,
  ...damage,
  ...crashingTools,
  ...crashingWorkers,
  ...strayTools,
  ...isolatedTools,
  ...reboundPage,
  ...workersSeen,
  ...longTexts,
  ...longTextsWorkers,
  ...hostileRules,
  ...storms,
  ...smallDoor,
  ...bursts,
  ...modelOutage,
  ...modelOutageWorkers,
  ...refusedKey,
  ...hostileModels,
  ...restoredStore,
  ...oldAge,
  ...promptParts,
  ...promptsGoOn,
  ...compactionsHold,
  ...asWritten,
  ...reminders,
  ...diary,
  ...talked
]

/** The name of each fault, which is that of its module in plants/, and the attack that has to find it. */
const planted: Readonly<Record<string, string>> = {
  "all-in-one-turn": "three-long-texts",
  "asks-without-end": "hostile-models",
  "believes-late-results": "stray-tools",
  "believes-the-id": "swallowed-in-silence",
  "changes-in-front": "prompts-go-on",
  "clock-decides": "jumping-clock",
  "cut-is-success": "patterns-say-why",
  "failed-writes-believed": "failing-disk",
  "fatal-damage": "one-bad-page",
  "finds-no-run": "stray-tools",
  "forgets-floors": "compactions-hold",
  "forgets-holds": "compactions-hold",
  "forgets-reminders": "reminders",
  "forgets-the-old": "journal-filled",
  "forgets-notes": "crash-loop-kill-from-outside",
  "garbage-is-kept": "burst",
  "health-that-forgets": "small-doors",
  "host-believed": "rebound-page",
  "keeps-passages": "compactions-hold",
  "leases-run-out": "long-texts-workers",
  "lets-isolated-run-on": "isolated-tools",
  "lock-alone": "two-starts",
  "lost-wakes-lost": "poisoned-redis",
  "memory-of-merges": "nineteen-at-once",
  "no-mark": "store-emptied",
  "no-second-name": "read-files-and-look",
  "no-waking": "model-away",
  "numbers-alone": "restored-store",
  "numbers-alone-postgres": "restored-store-postgres",
  "numbers-alone-qdrant": "restored-store-qdrant",
  "open-files": "open-rights",
  "quadratic-rule": "hostile-rules",
  "reads-all-entries": "old-age",
  "refused-writes-believed": "full-disk",
  "refusal-waits": "key-refused",
  "sources-found-anew": "patterns-say-why",
  "streams-outlive-clients": "small-storm",
  "streams-without-bound": "slow-readers",
  "streams-without-pace": "slow-readers",
  "takes-unread-for-read": "talked-of",
  "templates-unread": "templates-by-http",
  "timers-unseen-postgres": "reminders-workers",
  "unwatched-at-rest": "directory-removed-at-rest",
  "unwatched-files": "directory-removed",
  "withheld-counts": "model-unwell",
  "workers-unseen": "workers-seen"
}

export const plants: ReadonlyArray<Plant> = Object.entries(planted).map(([name, attack]) => ({
  name,
  attack,
  module: join(import.meta.dirname, "plants", `${name}.ts`)
}))
