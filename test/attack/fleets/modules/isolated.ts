// What the isolated tools of the attacks run: each kind of harm by name.

import type { IsolatedRun } from "reverie"

const harms: Readonly<Record<string, (run: IsolatedRun) => unknown>> = {
  spin: () => {
    for (;;);
  },
  hog_heap: () => {
    const kept: Array<unknown> = []
    for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => index + Math.random()))
  },
  hog_buffers: async () => {
    const kept: Array<unknown> = []
    for (;;) {
      kept.push(Buffer.alloc(8_000_000, 1))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  },
  leave: () => process.exit(0),
  kill: () => process.kill(process.pid, "SIGKILL"),
  add: (run) => `two and two are four, says ${run.assistant}`
}

export default ({ harm }: { readonly harm: string }, run: IsolatedRun): unknown => harms[harm]?.(run)
