// Planted: nothing looks for mail whose wake-up was lost.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/runtime/src/worker/worker.ts",
  "for (const address of due) if (!hosts.isKnown(address)) yield* hosts.wake(address)",
  "void due"
)
