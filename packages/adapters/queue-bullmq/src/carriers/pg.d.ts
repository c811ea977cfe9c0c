// Pg: the part of the package `pg` that is used here, which brings no types.

declare module "pg" {
  import type { PgModule } from "bullmq"

  export const Pool: PgModule["Pool"]
  export const escapeIdentifier: (name: string) => string
}
