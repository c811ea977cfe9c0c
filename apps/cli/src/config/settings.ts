// Settings: what can be set, under which names.
// Owns the table. Leaves where values come from to sources.ts.
// S1  A secret is never read from a configuration file: it comes from the environment, or from a file that is named.

export interface Setting {
  readonly name: string
  /** The environment variable that means the same. */
  readonly variable: string
  /** Its value is reported masked, and no configuration file may hold it. */
  readonly isSecret?: true
  readonly fallback?: string
  readonly says: string
}

export const settings: ReadonlyArray<Setting> = [
  { name: "data", variable: "REVERIE_DATA", fallback: ".reverie", says: "data directory" },
  { name: "fleet", variable: "REVERIE_FLEET", says: "the file that exports the fleet" },
  { name: "url", variable: "REVERIE_URL", says: "a running server" },
  { name: "token", variable: "REVERIE_TOKEN", isSecret: true, says: "its token" },
  { name: "tokens", variable: "REVERIE_TOKENS", isSecret: true, says: "tokens that a server gives out" },
  { name: "model", variable: "OPENAI_MODEL", says: "the model to ask" },
  { name: "baseUrl", variable: "OPENAI_BASE_URL", says: "the server of the model" },
  { name: "apiKey", variable: "OPENAI_API_KEY", isSecret: true, says: "its key" },
  { name: "embeddingModel", variable: "OPENAI_EMBEDDING_MODEL", says: "the model of embeddings" },
  { name: "embeddingDimensions", variable: "OPENAI_EMBEDDING_DIMENSIONS", says: "their length; learned when not set" },
  { name: "embeddingBaseUrl", variable: "OPENAI_EMBEDDING_BASE_URL", says: "their server, where it is another one" },
  { name: "embeddingApiKey", variable: "OPENAI_EMBEDDING_API_KEY", isSecret: true, says: "its key" },
  { name: "database", variable: "DATABASE_URL", isSecret: true, says: "PostgreSQL of a deployment" },
  { name: "databasePassword", variable: "DATABASE_PASSWORD", isSecret: true, says: "its password, not in the URL" },
  { name: "redis", variable: "REDIS_URL", isSecret: true, says: "Redis of a deployment" },
  { name: "qdrant", variable: "QDRANT_URL", says: "Qdrant" },
  { name: "qdrantKey", variable: "QDRANT_API_KEY", isSecret: true, says: "its key" },
  { name: "deployment", variable: "REVERIE_DEPLOYMENT", says: "the name of a deployment" }
]

/** Files in which a secret may stand, and whose it is. */
export const secretFiles: Readonly<Record<string, string>> = {
  tokenFile: "token",
  apiKeyFile: "apiKey",
  embeddingApiKeyFile: "embeddingApiKey",
  qdrantKeyFile: "qdrantKey",
  databaseFile: "database",
  databasePasswordFile: "databasePassword",
  redisFile: "redis"
}

/** Addresses, and the secret that is sent there. */
export const guarded: ReadonlyArray<readonly [address: string, secret: string]> = [
  ["baseUrl", "apiKey"],
  ["embeddingBaseUrl", "embeddingApiKey"],
  ["url", "token"],
  ["qdrant", "qdrantKey"],
  ["database", "databasePassword"]
]

/** Addresses that a person has confirmed, in his own configuration. */
export const TRUSTED = "trusted"

const MASK = "********"

/** A secret as it may be told. */
export const masked = (value: string): string => {
  if (!URL.canParse(value)) return MASK
  const url = new URL(value)
  if (url.password !== "") url.password = "masked"
  return url.href.replace("masked", MASK)
}

// OwnEnvironment: the environment as the process was given it, before files were put beside it.

let given: Readonly<Record<string, string | undefined>> | undefined

/** Keeps what was given; called before files are applied. */
export const keepEnvironment = (): Readonly<Record<string, string | undefined>> => {
  given = { ...process.env }
  return given
}

export const environment = (): Readonly<Record<string, string | undefined>> => given ?? process.env
