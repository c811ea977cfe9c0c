// ElkThread: ELK on a thread of its own.
// Owns running it once, on the graph that the thread was started with. Leaves the graph to layout.ts.

import { parentPort, workerData } from "node:worker_threads"
import elk, { type ELK, type ElkNode } from "elkjs"

// Its types say that the module is the class; to node the class is one of its exports.
const Elk = elk as unknown as new () => ELK
// A port of threads has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(await new Elk().layout(workerData as ElkNode))
