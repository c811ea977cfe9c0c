// Addresses: the names of data stores.
// Owns the one with its password, for the server, and the one without, for people. Leaves opening to deployment.ts.

interface Database {
  readonly database: string
  readonly name?: string
  readonly password?: string
}

/** The name of a deployment that none is given. */
export const DEFAULT_NAME = "reverie"

/** The URL of the database with its password in it. */
export const databaseUrl = ({ database, password = "" }: Database): string => {
  if (password === "" || !URL.canParse(database)) return database
  const url = new URL(database)
  if (url.password === "") url.password = encodeURIComponent(password)
  return url.href
}

/** What a place is called where anybody may read it. */
export const placeName = (place: { readonly data: string } | { readonly deployment: Database }): string => {
  if ("data" in place) return place.data
  const { database, name = DEFAULT_NAME } = place.deployment
  if (!URL.canParse(database)) return "a database"
  const { host, pathname, protocol } = new URL(database)
  return `${protocol}//${host}${pathname} (${name})`
}
