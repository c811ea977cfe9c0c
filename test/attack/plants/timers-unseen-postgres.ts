// Planted: in PostgreSQL no assistant is due for a timer.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/adapters/store-postgres/src/ports/ledger.ts",
  "timer: timers.length === 0 ? undefined : Math.trunc(Math.min(...timers))",
  "timer: undefined"
)
