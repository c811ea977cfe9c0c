// Planted: a call that failed is made again at once, for as long as its time lasts, and no circuit opens.
import { rewrite } from "../rewriting.ts"

const trying = "packages/model/src/wire/trying.ts"
rewrite(trying, "Schedule.upTo({ times: retries })", "Schedule.upTo({ times: retries + 1_000_000 })")
rewrite(trying, "Schedule.exponential(Duration.millis(backoffMillis))", 'Schedule.spaced("5 millis")')
rewrite(trying, "failures: breaker.failures ?? 5,", "failures: 1_000_000,")
