// Planted: a rule whose work grows with the square of an unbroken word.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/memory/src/integrity/instruction.ts",
  "const readings = readingsOf(text)",
  String.raw`if (/[^\s@]+@[^\s.]+\.com/u.test(text)) return "planted"; const readings = readingsOf(text)`
)
