import { queueLocalLayer } from "@reverie/queue-local"
import { wakeQueueLaws, wakeQueueMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

const fresh = () => queueLocalLayer

prove("queue-local: wake-queue laws", wakeQueueLaws, fresh)
bite("wake-queue laws bite", wakeQueueLaws, wakeQueueMutants(fresh))
