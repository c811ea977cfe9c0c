// Planted: a report finds the layers out anew, as if nothing of the moment had narrowed the tick.
import { rewrite } from "../rewriting.ts"

rewrite("packages/runtime/src/prompt/layers.ts", "restriction.sources ?? sourcesWithin", "sourcesWithin")
