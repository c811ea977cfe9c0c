// Migrations: the steps from each format of the tables to the next. A released step is never changed.
// Owns their order. Leaves running them to format.ts.
// G1  The format of a database is the number of steps that have run on it; a new step goes to the end of the list.

import { tables } from "./migrations/0001-tables.ts"
import { tenants } from "./migrations/0002-tenants.ts"
import { apply } from "./migrations/0003-apply.ts"
import { documents } from "./migrations/0004-documents.ts"
import { looks } from "./migrations/0005-looks.ts"
import { allowances } from "./migrations/0006-allowances.ts"
import { discarded } from "./migrations/0007-discarded.ts"
import { notes } from "./migrations/0008-notes.ts"

export const migrations: ReadonlyArray<string> = [
  tables,
  tenants,
  apply,
  documents,
  looks,
  allowances,
  discarded,
  notes
]
