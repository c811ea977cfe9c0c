// Parse: a regular expression as a tree, for as much of the language as this project's patterns use.
// Owns the tree. Leaves matching to steps.ts.
// P1  What it does not know it refuses, so that no pattern is taken for another one.

export type Node =
  /** One character that this expression of its own matches. */
  | { readonly kind: "char"; readonly source: string }
  | { readonly kind: "edge"; readonly edge: "^" | "$" | "b" | "B" }
  | { readonly kind: "row"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "choice"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "look"; readonly ahead: boolean; readonly isNot: boolean; readonly node: Node }
  | { readonly kind: "repeat"; readonly node: Node; readonly min: number; readonly max: number; readonly lazy: boolean }

const groups = [
  { opening: "(?:", look: undefined },
  { opening: "(?=", look: { ahead: true, isNot: false } },
  { opening: "(?!", look: { ahead: true, isNot: true } },
  { opening: "(?<=", look: { ahead: false, isNot: false } },
  { opening: "(?<!", look: { ahead: false, isNot: true } }
] as const

class Parser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw new Error(`what is this: ${this.#source.slice(this.#at)}`)
    return node
  }

  #choice(): Node {
    const nodes = [this.#row()]
    while (this.#takes("|")) nodes.push(this.#row())
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: "choice", nodes }
  }

  #row(): Node {
    const nodes: Array<Node> = []
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      nodes.push(this.#repeated(this.#atom()))
    }
    return { kind: "row", nodes }
  }

  #atom(): Node {
    if (this.#takes("^")) return { kind: "edge", edge: "^" }
    if (this.#takes("$")) return { kind: "edge", edge: "$" }
    if (this.#source[this.#at] === "(") return this.#group()
    const source = /^(?:\[(?:[^\]\\]|\\.)*\]|\\[pPu]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|[^])/u.exec(
      this.#source.slice(this.#at)
    )?.[0]
    if (source === undefined || /^\\[1-9k]/.test(source)) throw new Error("back references are not counted")
    this.#at += source.length
    return source === "\\b" || source === "\\B"
      ? { kind: "edge", edge: source === "\\b" ? "b" : "B" }
      : { kind: "char", source }
  }

  #group(): Node {
    const group = groups.find(({ opening }) => this.#takes(opening))
    if (group === undefined && !this.#takes("(")) throw new Error("a group begins with (")
    const name = group === undefined ? /^\?<\w+>/.exec(this.#source.slice(this.#at))?.[0] : undefined
    this.#at += name?.length ?? 0
    const node = this.#choice()
    if (!this.#takes(")")) throw new Error("a group is not closed")
    return group?.look === undefined ? node : { kind: "look", ...group.look, node }
  }

  #repeated(node: Node): Node {
    const said = /^(?:[*+?]|\{(\d+)(,(\d*))?\})(\??)/.exec(this.#source.slice(this.#at))
    if (said === null) return node
    this.#at += said[0].length
    const [min, max] = this.#bounds(said)
    return { kind: "repeat", node, min, max, lazy: said[4] === "?" }
  }

  #bounds([whole, least, comma, most]: RegExpExecArray): readonly [number, number] {
    if (whole.startsWith("*")) return [0, Infinity]
    if (whole.startsWith("+")) return [1, Infinity]
    if (whole.startsWith("?")) return [0, 1]
    if (comma === undefined) return [Number(least), Number(least)]
    return [Number(least), most === "" ? Infinity : Number(most)]
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }
}

export const parsePattern = (source: string): Node => new Parser(source).whole()
