import { assert, it } from "@effect/vitest"
import { serverParts } from "../src/client.ts"

it("O1 the port of the address is the port of the client, also when it is the scheme's own", () => {
  assert.deepStrictEqual(serverParts("http://127.0.0.1:6333"), { url: "http://127.0.0.1:6333", port: 6333 })
  assert.deepStrictEqual(serverParts("https://qdrant.example:443/"), { url: "https://qdrant.example", port: 443 })
  assert.deepStrictEqual(serverParts("http://[::1]:80"), { url: "http://[::1]", port: 80 })
  assert.deepStrictEqual(serverParts("https://qdrant.example"), { url: "https://qdrant.example" })
})

it("O2 a path is kept, without its last slash; who is named in the address is not told", () => {
  assert.deepStrictEqual(serverParts("https://me:secret@proxy.example:8443/vectors/"), {
    url: "https://proxy.example:8443",
    port: 8443,
    prefix: "/vectors"
  })
})

it("O1 an address without a scheme is refused", () => {
  assert.throws(() => serverParts("qdrant, please"), /Invalid URL/)
})
