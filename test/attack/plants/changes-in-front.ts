// Planted: what changes with the event stands before the conversation, in the order of ids.
import { rewrite } from "../rewriting.ts"

rewrite("packages/context/src/layout/context-types.ts", "if (!isLate(id)) return id", "return id")
