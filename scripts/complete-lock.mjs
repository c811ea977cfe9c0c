// Complete lock: adds to package-lock.json the platform packages that a registry mirror did not serve.
// Owns those entries only. Without them `npm ci` refuses the lockfile ("Missing: X from lock file") on every platform.
// L1  An entry names the version, the system and the processor, so that other platforms pass it over.
// L2  No entry says where it was downloaded from: a lockfile holds on every registry.

import { readFileSync, writeFileSync } from "node:fs"

const file = new URL("../package-lock.json", import.meta.url)
const lock = JSON.parse(readFileSync(file, "utf8"))

const systems = {
  aix: /aix/,
  android: /android/,
  darwin: /darwin/,
  freebsd: /freebsd/,
  linux: /linux/,
  netbsd: /netbsd/,
  openbsd: /openbsd/,
  openharmony: /openharmony/,
  sunos: /sunos/,
  win32: /win32|windows/
}
const processors = {
  arm: /arm(?!64)/,
  arm64: /arm64/,
  ia32: /ia32/,
  loong64: /loong64/,
  mips64el: /mips64el/,
  ppc64: /ppc64/,
  riscv64: /riscv64/,
  s390x: /s390x/,
  wasm32: /wasm32/,
  x64: /x64|[-_]64$/
}

const namedIn = (patterns, name) =>
  Object.keys(patterns)
    .filter((key) => patterns[key].test(name))
    .slice(0, 1)

const entryFor = (name, range, parent) => {
  const os = namedIn(systems, name)
  const cpu = namedIn(processors, name)
  return {
    version: range.replace(/^\D*/, ""),
    ...(os.length > 0 ? { os } : {}),
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(name.includes("musl") ? { libc: ["musl"] } : {}),
    ...(parent.dev === true ? { dev: true } : {}),
    optional: true
  }
}

let added = 0
for (const [path, parent] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
    const places = [`${path === "" ? "" : `${path}/`}node_modules/${name}`, `node_modules/${name}`]
    if (places.some((place) => lock.packages[place]?.version === range.replace(/^\D*/, ""))) continue
    if (namedIn(systems, name).length === 0 && namedIn(processors, name).length === 0) continue
    const free = places.toReversed().find((place) => lock.packages[place] === undefined)
    if (free === undefined) continue
    lock.packages[free] = entryFor(name, range, parent)
    added += 1
  }
}
for (const [path, entry] of Object.entries(lock.packages)) {
  if (entry.resolved?.includes("://") === true) throw new Error(`${path} says where it was downloaded from`)
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(
  `package-lock.json: ${added} platform packages added, ${Object.keys(lock.packages).length} in all\n`
)
