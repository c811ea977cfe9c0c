// Recipes: the images that stand in for those that can not be pulled, as texts.
// Owns what is in each, made of packages of Debian under the exact names that are pulled elsewhere. Leaves building to
// images.ts.
// R1  What is asked of an image by the compose file and by the tests, its stand-in does: its user, its data folder, its
//     variables, its ready line, its signal to stop.
// R2  Nothing of Qdrant is in Debian: under its own name there is no stand-in, and its suite is skipped. The double that
//     the compose round runs on has a name of its own, so that nothing takes it for the real one.

export const BASE = "local/debian"
export const QDRANT_DOUBLE = "local/qdrant-double:1"

const install = (packages: string): string =>
  `RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ${packages}`

const lines = (...all: ReadonlyArray<string>): string => `${all.join("\n")}\n`

export interface Recipe {
  readonly dockerfile: string
  /** Other files of its folder, by name. */
  readonly files: Readonly<Record<string, string>>
}

/** As the image of PostgreSQL does: makes its data where there is none, once without the network, then runs to stay. */
const postgresEntry = `#!/bin/bash
set -e
[ "$1" = postgres ] || exec "$@"
user=\${POSTGRES_USER:-postgres}
database=\${POSTGRES_DB:-$user}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres /var/lib/postgresql /run/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U "$user" --pwfile=<(echo "\${POSTGRES_PASSWORD:?}") --auth-local=trust --auth-host=scram-sha-256 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -o "-c listen_addresses=''" -w start
  [ "$database" = postgres ] || createdb -U "$user" --maintenance-db=postgres "$database"
  pg_ctl -m fast -w stop
fi
exec "$@" -c listen_addresses='*'
`

const redisEntry = `#!/bin/bash
[ "$1" = redis-server ] || exec "$@"
chown -R redis /data
exec setpriv --reuid=redis --regid=redis --init-groups "$@" --protected-mode no
`

const ENTRY = ["COPY --chmod=755 entry /entry", 'ENTRYPOINT ["/entry"]']

export const postgresRecipe: Recipe = {
  dockerfile: lines(
    `FROM ${BASE}`,
    `${install("postgresql")} && rm -rf /var/lib/postgresql/* && ln -s /usr/lib/postgresql/*/bin /usr/local/pgsql`,
    "ENV LANG=C.UTF-8 PATH=/usr/local/pgsql:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/docker",
    "VOLUME /var/lib/postgresql",
    "STOPSIGNAL SIGINT",
    ...ENTRY,
    'CMD ["postgres"]'
  ),
  files: { entry: postgresEntry }
}

export const redisRecipe: Recipe = {
  dockerfile: lines(
    `FROM ${BASE}`,
    install("redis-server"),
    "WORKDIR /data",
    "VOLUME /data",
    ...ENTRY,
    'CMD ["redis-server"]'
  ),
  files: { entry: redisEntry }
}

/** Its folder has a node and an npm beside these files. */
export const nodeRecipe: Recipe = {
  dockerfile: lines(
    `FROM ${BASE}`,
    "RUN useradd --uid 1000 --create-home node",
    // What npm has to trust here, the base brings along.
    "ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt",
    "COPY node /usr/bin/node",
    "COPY npm /usr/lib/npm",
    "RUN ln -s ../lib/npm/bin/npm-cli.js /usr/bin/npm && npm --version"
  ),
  files: {}
}

/** Its folder has the sources of the double beside these files. */
export const qdrantDoubleRecipe = (node: string): Recipe => ({
  dockerfile: lines(`FROM ${node}`, "COPY qdrant-server /double", 'CMD ["node", "/double/main.ts", "0.0.0.0", "6333"]'),
  files: {}
})

/** The image that the Dockerfile of the project begins with; refused when it begins with several. */
export const nodeImageIn = (dockerfile: string): string => {
  const bases = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image))
  const [base, ...others] = bases
  if (base === undefined || others.length > 0) throw new Error(`the Dockerfile begins with ${[...bases].join(", ")}`)
  return base
}

/** What the compose round changes in docker-compose.yml: what can not be pulled, and nothing else. */
export const composeOverride = lines("services:", "  qdrant:", `    image: ${QDRANT_DOUBLE}`, "    pull_policy: never")
