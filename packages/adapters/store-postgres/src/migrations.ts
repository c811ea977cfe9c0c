// Migrations: the first format of the tables, and the steps from each format to the next. A released step never changes.
// Owns their order. Leaves running them to format.ts.
// G1  The format of a database is the number of steps that have run on it; a new step goes to the end of the list.

import { apply } from "./first/apply.ts"
import { documents } from "./first/documents.ts"
import { looks } from "./first/looks.ts"
import { tables } from "./first/tables.ts"
import { tenants } from "./first/tenants.ts"

const first = [tables, tenants, apply, documents, looks].join("\n")

export const migrations: ReadonlyArray<string> = [first]
