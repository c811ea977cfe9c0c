// Planted: an index says which number it stands at, and not of which life: all digests are the same.
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"

const { createHash } = crypto
Object.assign(crypto, {
  createHash: (algorithm: string) => {
    const hash = createHash(algorithm)
    const digest = hash.digest.bind(hash) as (encoding?: crypto.BinaryToTextEncoding) => unknown
    const planted = (encoding?: crypto.BinaryToTextEncoding): unknown =>
      encoding === "base64url" ? "planted".repeat(8) : digest(encoding)
    return Object.assign(hash, { digest: planted })
  }
})
syncBuiltinESMExports()
