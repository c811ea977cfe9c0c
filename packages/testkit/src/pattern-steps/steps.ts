// Steps: how much work a backtracking engine has with a pattern and a text.
// Owns the counting. Leaves reading the pattern to parse.ts.
// A clock tells how fast a machine is; a count of steps tells how the work grows with the text.
// S1  It finds a match where the engine of JavaScript finds one, and of the same length.
// S2  A step is one character, edge or look that is tried. Fewer are taken by an engine that is clever, never more.

import { type Node, parsePattern } from "./parse.ts"

/** Goes on behind a part; true when the rest matches from there. */
type Then = (at: number) => boolean

type Match = (at: number, then: Then) => boolean

class Engine {
  steps = 0
  readonly #points: ReadonlyArray<string>
  readonly #flags: string
  readonly #isMultiline: boolean
  readonly #known = new Map<string, Map<string, boolean>>()

  constructor(points: ReadonlyArray<string>, flags: string) {
    this.#points = points
    this.#flags = flags.replaceAll(/[gydm]/g, "")
    this.#isMultiline = flags.includes("m")
  }

  /** `backwards`: from right to left, as inside a look behind. */
  compile(node: Node, backwards = false): Match {
    switch (node.kind) {
      case "char":
        return this.#char(node.source, backwards)
      case "edge":
        return (at, then) => {
          this.steps++
          return this.#isEdge(node.edge, at) && then(at)
        }
      case "row": {
        const parts = node.nodes.map((each) => this.compile(each, backwards))
        return (backwards ? parts.toReversed() : parts).reduceRight<Match>(
          (rest, part) => (at, then) => part(at, (next) => rest(next, then)),
          (at, then) => then(at)
        )
      }
      case "choice": {
        const parts = node.nodes.map((each) => this.compile(each, backwards))
        return (at, then) => parts.some((part) => part(at, then))
      }
      case "look": {
        const inner = this.compile(node.node, !node.ahead)
        return (at, then) => {
          this.steps++
          return inner(at, () => true) !== node.isNot && then(at)
        }
      }
      case "repeat":
        return this.#repeat(node, backwards)
    }
  }

  #char(source: string, backwards: boolean): Match {
    const known = this.#known.get(source) ?? new Map<string, boolean>()
    this.#known.set(source, known)
    const pattern = new RegExp(`^(?:${source})$`, this.#flags)
    return (at, then) => {
      this.steps++
      const point = this.#points[backwards ? at - 1 : at]
      if (point === undefined) return false
      let fits = known.get(point)
      if (fits === undefined) known.set(point, (fits = pattern.test(point)))
      return fits && then(backwards ? at - 1 : at + 1)
    }
  }

  /** Repeats of one character are a loop: recursion would be as deep as the text is long. */
  #repeat({ lazy, max, min, node }: Extract<Node, { readonly kind: "repeat" }>, backwards: boolean): Match {
    const part = this.compile(node, backwards)
    if (node.kind === "char") {
      const step = (at: number): number | undefined => {
        let next: number | undefined
        part(at, (behind) => {
          next = behind
          return true
        })
        return next
      }
      return (at, then) => (lazy ? this.#fewest(at, min, max, step, then) : this.#most(at, min, max, step, then))
    }
    const from = (count: number, at: number, then: Then): boolean => {
      const more = () =>
        count < max && part(at, (next) => (next === at && count >= min ? false : from(count + 1, next, then)))
      if (count < min) return more()
      return lazy ? then(at) || more() : more() || then(at)
    }
    return (at, then) => from(0, at, then)
  }

  #most(at: number, min: number, max: number, step: (at: number) => number | undefined, then: Then): boolean {
    const places = [at]
    for (let place = step(at); place !== undefined && places.length <= max; place = step(place)) {
      places.push(place)
      if (places.length > max) break
    }
    for (let count = places.length - 1; count >= min; count--) if (then(places[count] ?? 0)) return true
    return false
  }

  #fewest(at: number, min: number, max: number, step: (at: number) => number | undefined, then: Then): boolean {
    let place: number | undefined = at
    for (let count = 0; place !== undefined; count++) {
      if (count >= min && then(place)) return true
      if (count === max) return false
      place = step(place)
    }
    return false
  }

  #isEdge(edge: "^" | "$" | "b" | "B", at: number): boolean {
    const before = this.#points[at - 1]
    const behind = this.#points[at]
    if (edge === "^") return before === undefined || (this.#isMultiline && before === "\n")
    if (edge === "$") return behind === undefined || (this.#isMultiline && behind === "\n")
    const isWord = (point: string | undefined) => point !== undefined && /^\w$/.test(point)
    return (isWord(before) !== isWord(behind)) === (edge === "b")
  }
}

export interface Search {
  readonly steps: number
  /** Where the first match is, in code points; undefined when there is none. */
  readonly found: { readonly from: number; readonly to: number } | undefined
}

/** Looks for the first match from each place on, as `exec` does; all of them for a pattern with the flag g. */
export const searchSteps = (pattern: RegExp, text: string): Search => {
  const points = pattern.unicode || pattern.unicodeSets ? Array.from(text) : text.split("")
  const engine = new Engine(points, pattern.flags)
  const match = engine.compile(parsePattern(pattern.source))
  let found: Search["found"]
  for (let from = 0; from <= points.length; from++) {
    let to = -1
    const isFound = match(from, (at) => {
      to = at
      return true
    })
    if (!isFound) continue
    found ??= { from, to }
    if (!pattern.global) break
    if (to > from) from = to - 1
  }
  return { steps: engine.steps, found }
}

// Growth: texts that make a pattern work hard, and how its work grows with them.
// Owns making such texts out of the pattern itself. Leaves counting to Steps.
// G1  What is asked for is the worst of many texts, each a short piece over and over again: what makes an engine go back
//     again and again is made of pieces of its own pattern.

/** What stands in a pattern as it is: words and signs, and what most texts are made of. */
export const piecesOfPattern = ({ source }: RegExp): ReadonlyArray<string> => {
  const words = source.replaceAll(/\\[pP]\{[^}]*\}|\\[a-zA-Z]/g, " ").match(/[a-z]{2,}/gi) ?? []
  const signs = source.match(/[^\w\s\\]/g) ?? []
  return [...new Set([...words.slice(0, 40), ...signs, "a", "A", "1", "é", " ", "\n", ".", "@", "a b ", "é\u0301"])]
}

export interface Growth {
  /** The piece that it was worst with. */
  readonly piece: string
  /** How many times as many steps the text of double length takes. */
  readonly factor: number
  /** Steps for each code point of the longer one. */
  readonly perPoint: number
}

/** How the work grows when a text of a piece over and over again gets twice as long. */
export const growthWith = (pattern: RegExp, piece: string, points: number): Growth => {
  const length = Array.from(piece).length
  const [short, long] = [points, 2 * points].map((wanted) => {
    const text = piece.repeat(Math.max(1, Math.floor(wanted / length)))
    return { points: Array.from(text).length, steps: searchSteps(pattern, text).steps }
  }) as [{ points: number; steps: number }, { points: number; steps: number }]
  const stretched = long.points / short.points
  return { piece, factor: (2 * long.steps) / short.steps / stretched, perPoint: long.steps / long.points }
}
