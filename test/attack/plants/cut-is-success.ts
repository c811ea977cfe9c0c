// Planted: a chat takes half an answer for a whole one.
import { rewrite } from "../rewriting.ts"

rewrite(
  "apps/server/src/ag-ui/teller.ts",
  "const message = stopReasons[outcome]",
  "const message = stopReasons[outcome] === undefined ? undefined : undefined"
)
