// Planted: mail is due at the time that the clock showed when it came, and not whatever the clock says.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/adapters/store-sqlite/src/mailbox/mailbox.ts",
  "clamp(millis, AWAKE - 1) - AWAKE",
  "clamp(millis, AWAKE - 1)"
)
