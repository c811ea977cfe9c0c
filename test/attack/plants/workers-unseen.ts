// No one is found among those who take wake-ups, as if no connection had a name.

import { Queue } from "bullmq"

Queue.prototype.getWorkers = () => Promise.resolve([])
