// Planted: a refused key is taken for an outage, and waited for.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/model/src/errors.ts",
  'error._tag === "CallWithheld" ||',
  '["CallWithheld", "ModelDenied"].includes(error._tag) ||'
)
