// EgressAddress: which addresses are out in the open.
// Owns the judgement of one address. Leaves finding addresses and connecting to egress.ts.
// A1  Only global unicast is open: whatever is private, local, shared, reserved or a group is not, in any notation.
// A2  An address that carries an IPv4 address inside is judged by that one, or not let through at all.
// A3  What the user named may be private or this machine; never a link, a group, nothing, or everybody.

import ipaddr from "ipaddr.js"

/** How far an address is from being open. closed: nobody may go there. inside: who was named may. */
export interface AddressVerdict {
  readonly standing: "open" | "inside" | "closed"
  /** In words, e.g. `loopback`. */
  readonly range: string
}

const words: Readonly<Record<string, string>> = {
  carrierGradeNat: "shared address of a carrier",
  linkLocal: "link-local, where cloud metadata is",
  uniqueLocal: "private",
  "6to4": "6to4 tunnel",
  teredo: "Teredo tunnel",
  rfc6145: "translated IPv4",
  rfc6052: "NAT64"
}

const named = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"])

/** Inside these ranges, but of a provider's own servers of secrets. */
const metadata = new Set(["100.100.100.200", "fd00:ec2::254", "fd20:ce::254"])

const NAT64 = ipaddr.parseCIDR("64:ff9b::/96")
const GLOBAL = ipaddr.parseCIDR("2000::/3")
const COMPATIBLE = ipaddr.parseCIDR("::/96")

const closed = (range: string): AddressVerdict => ({ standing: "closed", range: words[range] ?? range })

const judgeV4 = (address: ipaddr.IPv4): AddressVerdict => {
  const range = address.range()
  if (range === "unicast") return { standing: "open", range: "public" }
  if (metadata.has(address.toString())) return closed("cloud metadata")
  return named.has(range) ? { standing: "inside", range: words[range] ?? range } : closed(range)
}

const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12))

const judgeV6 = (address: ipaddr.IPv6): AddressVerdict => {
  if (address.zoneId) return closed("an address with a zone")
  const range = address.range()
  if (range === "ipv4Mapped") return judgeV4(embedded(address))
  if (range === "rfc6052" && address.match(NAT64)) return judgeV4(embedded(address))
  if (metadata.has(address.toString())) return closed("cloud metadata")
  if (named.has(range)) return { standing: "inside", range: words[range] ?? range }
  if (range === "unicast" && address.match(GLOBAL)) return { standing: "open", range: "public" }
  if (range === "unicast" && address.match(COMPATIBLE)) return closed("IPv4 in an obsolete form")
  return closed(range === "unicast" ? "reserved" : range)
}

/** Undefined for what is no address. Only the usual notations are addresses here: no octal, no hexadecimal IPv4. */
export const judgeAddress = (text: string): AddressVerdict | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return judgeV4(ipaddr.IPv4.parse(text))
  // The library takes this form for a mapped address, the machine does not.
  if (/^::\d+\./u.test(text)) return closed("IPv4 in an obsolete form")
  return ipaddr.IPv6.isValid(text) ? judgeV6(ipaddr.IPv6.parse(text)) : undefined
}
