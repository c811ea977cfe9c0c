// The table of what may be asked.

import { assert, describe, it } from "@effect/vitest"
import { type EgressOptions, judgeAddress, openEgress, type Resolve } from "../src/transport/egress.ts"
import { EgressRefused } from "../src/errors.ts"
import { later } from "./rig.ts"

/** Names of the table; whatever else is asked does not exist. */
const names: Readonly<Record<string, ReadonlyArray<string>>> = {
  "example.com": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "api.example.com": ["93.184.215.15"],
  localhost: ["127.0.0.1", "::1"],
  "evil.test": ["10.0.0.7"],
  "mixed.test": ["93.184.215.14", "169.254.169.254"],
  "mapped.test": ["::ffff:192.168.0.1"],
  "xn--bcher-kva.example": ["93.184.215.16"],
  "broken.test": ["not-an-address"],
  "zone.test": ["fe80::1%eth0"],
  "inside.test": ["10.1.2.3"]
}
const resolve: Resolve = async (host) => {
  const found = names[host]
  if (found === undefined) throw new Error(`ENOTFOUND ${host}`)
  return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
}

type Reason = EgressRefused["reason"]
const open = undefined

/** What is asked, and why not. */
const table: ReadonlyArray<readonly [string, Reason | undefined]> = [
  ["https://example.com/", open],
  ["http://example.com:8080/a?b#c", open],
  ["https://EXAMPLE.com./", open],
  ["https://bücher.example/", open],
  ["https://93.184.215.14/", open],
  ["https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", open],
  ["http://1.1.1.1:81/", open],
  ["http://[::ffff:8.8.8.8]/", open],
  ["http://[64:ff9b::8.8.8.8]/", open],
  // What is no URL, no scheme of ours, or carries a secret.
  ["", "url"],
  ["example.com", "url"],
  ["//example.com/", "url"],
  ["http://", "url"],
  ["http://[::1", "url"],
  ["http://exa mple.com/", "url"],
  ["http://256.256.256.256/", "url"],
  ["http://[fe80::1%25eth0]/", "url"],
  ["ftp://example.com/", "scheme"],
  ["file:///etc/passwd", "scheme"],
  ["gopher://127.0.0.1:6379/_", "scheme"],
  ["data:text/plain,hello", "scheme"],
  ["javascript:alert(1)", "scheme"],
  ["ws://example.com/", "scheme"],
  ["unix:/var/run/docker.sock", "scheme"],
  ["https://user:word@example.com/", "credentials"],
  ["https://user@example.com/", "credentials"],
  ["http://example.com@127.0.0.1/", "credentials"],
  ["http://:word@example.com/", "credentials"],
  // This machine, in every notation.
  ["http://127.0.0.1/", "address"],
  ["http://127.0.0.1:8080/", "address"],
  ["http://127.1/", "address"],
  ["http://127.255.255.254/", "address"],
  ["http://2130706433/", "address"],
  ["http://0x7f000001/", "address"],
  ["http://0x7f.0.0.1/", "address"],
  ["http://0177.0.0.1/", "address"],
  ["http://017700000001/", "address"],
  ["http://127.0.0.1./", "address"],
  ["http://①②⑦.⓪.⓪.①/", "address"],
  ["http://localhost/", "address"],
  ["http://LOCALHOST./", "address"],
  ["http://[::1]/", "address"],
  ["http://[0:0:0:0:0:0:0:1]/", "address"],
  ["http://[::]/", "address"],
  ["http://[::ffff:127.0.0.1]/", "address"],
  ["http://[::ffff:7f00:1]/", "address"],
  ["http://[::127.0.0.1]/", "address"],
  ["http://0/", "address"],
  ["http://0.0.0.0/", "address"],
  ["http://0.1.2.3/", "address"],
  // Private networks and those of carriers.
  ["http://10.0.0.1/", "address"],
  ["http://10.255.255.255/", "address"],
  ["http://172.16.0.1/", "address"],
  ["http://172.31.255.255/", "address"],
  ["http://192.168.1.1/", "address"],
  ["http://0xc0a80101/", "address"],
  ["http://100.64.0.1/", "address"],
  ["http://100.127.255.255/", "address"],
  ["http://[fc00::1]/", "address"],
  ["http://[fd12:3456::1]/", "address"],
  ["http://[::ffff:10.0.0.1]/", "address"],
  ["http://[fec0::1]/", "address"],
  // Metadata of clouds, and links.
  ["http://169.254.169.254/latest/meta-data/", "address"],
  ["http://2852039166/", "address"],
  ["http://0xa9fea9fe/", "address"],
  ["http://0251.0376.0251.0376/", "address"],
  ["http://[::ffff:169.254.169.254]/", "address"],
  ["http://[fd00:ec2::254]/", "address"],
  ["http://100.100.100.200/", "address"],
  ["http://192.0.0.192/", "address"],
  ["http://169.254.0.1/", "address"],
  ["http://[fe80::1]/", "address"],
  // Tunnels and translations to what is inside.
  ["http://[64:ff9b::127.0.0.1]/", "address"],
  ["http://[64:ff9b::a9fe:a9fe]/", "address"],
  ["http://[64:ff9b:1::1]/", "address"],
  ["http://[2002:7f00:1::]/", "address"],
  ["http://[2002:a00:1::]/", "address"],
  ["http://[2001::1]/", "address"],
  ["http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "address"],
  ["http://[::ffff:0:127.0.0.1]/", "address"],
  // Everybody, groups, examples, what is kept for later.
  ["http://255.255.255.255/", "address"],
  ["http://224.0.0.1/", "address"],
  ["http://239.255.255.250:1900/", "address"],
  ["http://240.0.0.1/", "address"],
  ["http://198.18.0.1/", "address"],
  ["http://192.0.2.1/", "address"],
  ["http://198.51.100.1/", "address"],
  ["http://203.0.113.1/", "address"],
  ["http://192.88.99.1/", "address"],
  ["http://[ff02::1]/", "address"],
  ["http://[2001:db8::1]/", "address"],
  ["http://[100::1]/", "address"],
  ["http://[3fff::1]/", "address"],
  ["http://[5f00::1]/", "address"],
  ["http://[4000::1]/", "address"],
  // Names that lead inside, and names that lead nowhere.
  ["http://evil.test/", "address"],
  ["http://mixed.test/", "address"],
  ["http://mapped.test/", "address"],
  ["http://broken.test/", "address"],
  ["http://zone.test/", "address"],
  ["http://nowhere.test/", "unresolved"],
  ["http://localhost.nowhere.test/", "unresolved"]
]

const verdictOf = async (url: string, options: EgressOptions = {}): Promise<Reason | undefined> => {
  const egress = openEgress({ resolve, ...options })
  later(egress.close)
  try {
    await egress.judge(url)
    return undefined
  } catch (error) {
    assert.instanceOf(error, EgressRefused)
    assert.isNotEmpty(error.message)
    return error.reason
  }
}

describe("which URLs are asked", () => {
  it("G1 A1 A2 every row of the table", async () => {
    assert.isAtLeast(table.length, 60)
    for (const [url, expected] of table) assert.strictEqual(await verdictOf(url), expected, url)
  })

  it("G1 only hosts of the list, when there is one", async () => {
    const allowHosts = ["api.example.com", "*.test"]
    assert.strictEqual(await verdictOf("https://api.example.com/", { allowHosts }), undefined)
    assert.strictEqual(await verdictOf("https://API.example.com./", { allowHosts }), undefined)
    for (const url of [
      "https://example.com/",
      "https://test/",
      "https://eviltest/",
      "https://api.example.com.evil.test.com/"
    ]) {
      assert.strictEqual(await verdictOf(url, { allowHosts }), "host", url)
    }
    // Being on the list makes no address better.
    assert.strictEqual(await verdictOf("https://evil.test/", { allowHosts }), "address")
  })

  it("A3 who is named may be inside, on that port only, and never metadata, a link or a group", async () => {
    const allowPrivate = [
      "localhost:1234",
      "inside.test:443",
      "[::1]:80",
      "10.0.0.1:80",
      "169.254.169.254:80",
      "mixed.test:80"
    ]
    const may = async (url: string) => (await verdictOf(url, { allowPrivate })) === undefined
    assert.isTrue(await may("http://localhost:1234/mcp"))
    assert.isTrue(await may("https://inside.test/"))
    assert.isTrue(await may("http://[::1]/"))
    assert.isTrue(await may("http://10.0.0.1/"))
    for (const url of [
      "http://localhost/",
      "http://localhost:1235/",
      "http://127.0.0.1:1234/",
      "http://inside.test/",
      "http://10.0.0.2/",
      "http://169.254.169.254/",
      "http://mixed.test/"
    ]) {
      assert.isFalse(await may(url), url)
    }
  })

  it("A1 what is no plain address is none", () => {
    for (const text of ["", "example.com", "0x7f.1", "127.1", "1.2.3.4.5", "012.1.1.1", ":::"]) {
      assert.isUndefined(judgeAddress(text), text)
    }
  })
})
