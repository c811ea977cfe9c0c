// QueueFigures: what a server of queues counts, read out of the measurements.
// Owns finding it in the text format of Prometheus. Leaves counting to the adapter.
// Q1  A line that is not understood is left out.

export interface QueueFigures {
  readonly name: string
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  readonly failed: number
  readonly completed?: number
  readonly paused: boolean
}

/** States in which a job waits for a worker. */
const waitingStates = new Set(["waiting", "prioritized", "wait", "waiting-children"])

export const queuesIn = (metrics: string): ReadonlyArray<QueueFigures> => {
  const queues = new Map<string, Map<string, number>>()
  for (const [, labels = "", value] of metrics.matchAll(/^bullmq_job_count\{([^}]*)\} (\d+)/gm)) {
    const name = /queue="([^"]*)"/.exec(labels)?.[1]
    const state = /state="([^"]*)"/.exec(labels)?.[1]
    if (name === undefined || state === undefined) continue
    const states = queues.get(name) ?? new Map<string, number>()
    states.set(state, Number(value))
    queues.set(name, states)
  }
  return [...queues].map(([name, states]) => ({
    name,
    waiting: [...states].reduce((sum, [state, count]) => (waitingStates.has(state) ? sum + count : sum), 0),
    active: states.get("active") ?? 0,
    delayed: states.get("delayed") ?? 0,
    failed: states.get("failed") ?? 0,
    completed: states.get("completed") ?? 0,
    paused: (states.get("paused") ?? 0) > 0
  }))
}
