// Planted: a worker never renews a lease while it works.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/runtime/src/worker/lease-session.ts",
  "renewClaim(session, yield* mailbox.renew(session.claim, leaseMillis))",
  "void mailbox"
)
