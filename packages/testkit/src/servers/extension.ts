// Extension: whether the PostgreSQL of tests can have pgvector.
// Owns looking for it. Leaves making it in a database to those whose tests use it.
// E1  Where it is not there, or the role may not make it, tests that need it are skipped, and a check knows why.

import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { placeOf, type Wanted } from "./place.ts"
import { postgresSays } from "./postgres-wire.ts"

const CONTROL = "extension/vector.control"

/** Where a server keeps its extensions, from its program on: as it is built by itself, and as Debian does. */
const foldersOf = (program: string): ReadonlyArray<string> => {
  const home = join(dirname(realpathSync(program)), "..")
  const debian = join("/usr/share/postgresql", basename(home))
  return [join(home, "share"), join(home, "share/postgresql"), debian]
}

const MAY_MAKE = `
  SELECT 1 FROM pg_available_extension_versions v JOIN pg_roles r ON r.rolname = current_user
  WHERE v.name = 'vector' AND (v.installed OR r.rolsuper OR v.trusted AND has_database_privilege(current_database(), 'CREATE'))`

/** Whether databases of the server that tests are given can have the extension. */
export const hasPgvector = async (wanted: Wanted = {}): Promise<boolean> => {
  const place = placeOf("postgres", wanted)
  if (place.origin === undefined) return false
  if (place.origin === "machine") return foldersOf(place.program).some((folder) => existsSync(join(folder, CONTROL)))
  const rows = await postgresSays(place.url, MAY_MAKE)
  return rows.length > 0
}
