// Planted: an id that was accepted before stands for whatever is said under it now.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/reverie/src/checks/judging.ts",
  'if (receipt.outcome === "accepted") return receipt',
  "if (receipt !== undefined) return receipt"
)
