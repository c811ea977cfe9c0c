// Planted: a call that failed is made again at once, for as long as its time lasts, and no circuit opens.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/model/src/wire/trying.ts",
  "Schedule.upTo({ times: retries })",
  "Schedule.upTo({ times: retries + 1_000_000 })"
)
rewrite(
  "packages/model/src/wire/trying.ts",
  "Schedule.exponential(Duration.millis(backoffMs))",
  'Schedule.spaced("5 millis")'
)
rewrite("packages/model/src/wire/trying.ts", "failures: breaker.failures ?? 5,", "failures: 1_000_000,")
