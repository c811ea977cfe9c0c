import { createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { it } from "@effect/vitest"
import { openPostgresStore } from "@reverie/store-postgres"
import { queueBullmqLayer } from "@reverie/queue-bullmq"
import { WakeQueue } from "@reverie/mailbox"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { deploymentFromConfig } from "../src/opening/deployment.ts"
import { databaseUrl } from "../src/opening/addresses.ts"

const DATABASE = "postgres://reverie@127.0.0.1:5432/reverie"

/** Those that end a part of a URL, those that escape, and what a person may type. */
const password = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."@/#:?%&+=[] \\\"'".split("")),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 })
  ),
  minLength: 1,
  maxLength: 24
})

describe("the password of a database", () => {
  test("D1 stands in the URL as it is meant, whatever is in it, and changes nothing else of it", () => {
    fc.assert(
      fc.property(password, (password) => {
        const url = new URL(databaseUrl({ database: DATABASE, password }))
        assert.strictEqual(decodeURIComponent(url.password), password)
        url.password = ""
        assert.strictEqual(url.href, DATABASE)
      })
    )
  })

  it.effect("D1 comes from DATABASE_PASSWORD where DATABASE_URL has none", () =>
    Effect.gen(function* () {
      const read = (env: Readonly<Record<string, string>>) =>
        Effect.map(
          Effect.provideService(
            deploymentFromConfig,
            ConfigProvider.ConfigProvider,
            ConfigProvider.fromEnv({ env: { ...env } })
          ),
          (found) => (found === undefined ? undefined : databaseUrl(found))
        )
      const beside = { DATABASE_PASSWORD: "p@ss/w#rd:" }
      assert.strictEqual(yield* read({ DATABASE_URL: DATABASE }), DATABASE)
      assert.strictEqual(
        yield* read({ DATABASE_URL: DATABASE, ...beside }),
        DATABASE.replace("reverie@", "reverie:p%40ss%2Fw%23rd%3A@")
      )
      const own = DATABASE.replace("reverie@", "reverie:own@")
      assert.strictEqual(yield* read({ DATABASE_URL: own, ...beside }), own)
      assert.isUndefined(yield* read(beside))
    })
  )
})

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** Asks everybody who connects for a password in clear, keeps what it receives, and lets no one in. */
const doorman = async () => {
  const told: Array<string> = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined))
    let isAsked = false
    socket.on("data", (bytes) => {
      if (isAsked && bytes.toString("latin1", 0, 1) === "p") {
        told.push(bytes.toString("utf8", 5, bytes.length - 1))
        socket.destroy()
      }
      if (!isAsked) socket.write(Buffer.concat([Buffer.from("R"), int32(8), int32(3)]))
      isAsked = true
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    told,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}

describe("the clients of a database", () => {
  const clients = {
    "that of the store": (url: string) => Effect.scoped(openPostgresStore(Redacted.make(url))),
    "that of the wake-ups": (url: string) =>
      Effect.provide(
        Effect.asVoid(WakeQueue),
        queueBullmqLayer({ backend: { postgres: Redacted.make(url) }, prefix: "p", concurrency: 1 })
      )
  }
  for (const [name, connect] of Object.entries(clients)) {
    test(`${name} sends the very password`, async () => {
      const { close, port, told } = await doorman()
      const password = "p@ss/w#rd:%20 ?&+ü"
      const database = `postgres://reverie@127.0.0.1:${port}/reverie`
      const connecting = Effect.runFork(Effect.ignore(connect(databaseUrl({ database, password }))))
      while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await Effect.runPromise(Fiber.interrupt(connecting))
      close()
      assert.strictEqual(told[0], password)
    })
  }
})
