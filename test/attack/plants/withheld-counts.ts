// Planted: a call that was not sent, because the server is known to be away, counts as a failure of the call, as before.
import { rewrite } from "../rewriting.ts"

rewrite("packages/model/src/errors.ts", 'error._tag === "CallWithheld" ||', "")
