// Planted: a reminder that is set leaves no timer, so its time passes unheard.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/runtime/src/intake/reminders.ts",
  "[...others, { name: REMINDER_TIMER, dueAt, event: { type: REMINDER_TIMER } }]",
  "others"
)
