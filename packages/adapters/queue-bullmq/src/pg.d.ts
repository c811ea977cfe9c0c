// Pg: the part of the package `pg` that is used here, which brings no types.

declare module "pg" {
  import type { PgModule } from "bullmq"

  const pg: PgModule & { readonly escapeIdentifier: (name: string) => string }
  export default pg
}
