// Proving: which test files can prove a row, and which of them drive a running fleet.
// Owns reading files of tests. Leaves reading titles to citations.ts, running tests to results.ts and mutate.ts.
// P1  A file can prove the rows that its text cites, and those that the lists of laws cite which it imports.
// P2  A fleet runs in tests of what a user holds: the SDK, an app, an example, the journey, nights and replays. Tests of
//     one room, of an adapter and of laws drive parts, however many they put together; a property is one of values.

import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root, run } from "../check/program.ts"
import { rowsIn } from "./citations.ts"

const places = /^(?:packages\/reverie|apps\/[^/]+|examples\/[^/]+)\/test\/|^test\/(?:journey|night|replay)\//

/** By its path, from the root of the tree. */
export const drivesFleet = (file: string): boolean => places.test(file) && !file.endsWith(".property.test.ts")

/** Of `file > group > title`. */
export const isFleetTest = (test: string): boolean => drivesFleet(test.split(" > ")[0] ?? "")

const TESTKIT = "packages/testkit/src/"

/** Names that a file takes from the testkit's own entry. */
const takenFromTestkit = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/import \{([^}]*)\} from "@reverie\/testkit"/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim().replace(/^type /, ""))
  )

const neighboursOf = (file: string, source: string): ReadonlyArray<string> =>
  [...source.matchAll(/from "(\.{1,2}\/[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), path))

/** The files of the tree, those among them that git does not know yet. */
export const filesOfTree = async (): Promise<ReadonlyArray<string>> => {
  const listed = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
  return listed.stdout.split("\0").filter((each) => existsSync(join(root, each)) && each !== "")
}

/** Reads the files of a tree once, by their paths from its root. */
export const provingIn = (tree: string, all: ReadonlyArray<string>) => {
  const texts = new Map<string, string>()
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(tree, file), "utf8")
    texts.set(file, text)
    return text
  }
  const lists = all.filter((file) => file.startsWith(`${TESTKIT}laws/`))
  const known = new Set(lists)
  /** A list of laws and those that it is made of. */
  const wholeList = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(file)) return seen
    seen.add(file)
    for (const next of neighboursOf(file, textOf(file))) if (known.has(next)) wholeList(next, seen)
    return seen
  }
  const listOf = (name: string): string | undefined =>
    lists.find(
      (file) => textOf(file).includes(`export const ${name}:`) || textOf(file).includes(`export const ${name} =`)
    )
  const rowsOf = (file: string): ReadonlyArray<string> => {
    const laws = takenFromTestkit(textOf(file)).flatMap((name) => {
      const list = listOf(name)
      return list === undefined ? [] : [...wholeList(list)]
    })
    return [file, ...laws].flatMap((each) => rowsIn(textOf(each)))
  }
  return all.filter((file) => file.endsWith(".test.ts")).map((file) => ({ file, rows: new Set(rowsOf(file)) }))
}

export type Proving = ReturnType<typeof provingIn>
