// Planted: rules whose work grows with the square of an unbroken word, one for each ending of an address.
import { rewrite } from "../rewriting.ts"

rewrite(
  "packages/memory/src/integrity/instruction.ts",
  "const readings = readingsOf(text)",
  String.raw`for (const ending of ["com", "net", "org", "io", "xyz", "ru", "cc", "dev"]) {
    if (new RegExp("[^\\s@]+@[^\\s.]+\\." + ending, "u").test(text)) return "planted"
  }
  const readings = readingsOf(text)`
)
