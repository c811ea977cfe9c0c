// Planted: a chat takes half an answer for a whole one.
import { rewrite } from "../rewriting.ts"

rewrite(
  "apps/server/src/ag-ui/teller.ts",
  "const why = stopReasons[outcome]",
  "const why = stopReasons[outcome] === undefined ? undefined : undefined"
)
