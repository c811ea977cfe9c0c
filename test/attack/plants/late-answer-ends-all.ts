// Planted: a statement that takes too long is taken for the end of the store.
import { rewrite } from "../rewriting.ts"

const module = "packages/adapters/store-postgres/src/database.ts"
rewrite(module, '"57014": "passing"', '"57014": "closed"')
rewrite(module, 'new PgFailure("passing", `no answer', 'new PgFailure("closed", `no answer')
