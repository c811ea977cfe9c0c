import { assert, describe, test } from "vitest"
import { AuthenticationError, ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { pgFailure } from "../src/database.ts"

const saidBy = (code: string, message: string) =>
  new SqlError({
    reason: new UnknownError({
      cause: Object.assign(new Error(message), { code }),
      message: "Query failed",
      operation: "query"
    })
  })

describe("what PostgreSQL says", () => {
  test("P1 what passes by itself may be asked again, and nothing else", () => {
    const kinds = {
      "57P01": "passing",
      "57P02": "passing",
      "57P03": "passing",
      "53300": "passing",
      "57014": "passing",
      "08006": "passing",
      "40001": "retry",
      "40P01": "retry",
      "53100": "full",
      "42501": "denied",
      "28P01": "other",
      "3D000": "other",
      "22021": "other"
    }
    for (const [code, kind] of Object.entries(kinds))
      assert.strictEqual(pgFailure(saidBy(code, "why")).kind, kind, code)
  })

  test("P1 a connection that breaks without a word of the server passes", () => {
    const reason = new ConnectionError({ cause: new Error("read ECONNRESET"), message: "lost", operation: "query" })
    const { kind, message } = pgFailure(new SqlError({ reason }))
    assert.deepStrictEqual([kind, message], ["passing", "read ECONNRESET"])
  })

  test("a sentence says what to do, and what the server said", () => {
    const cause = Object.assign(new Error('password authentication failed for user "ada"'), { code: "28P01" })
    const reason = new AuthenticationError({ cause, message: "Authentication failed", operation: "connect" })
    const { message } = pgFailure(new SqlError({ reason }))
    assert.strictEqual(
      message,
      'the password or the user is wrong; check the URL (password authentication failed for user "ada")'
    )
  })
})
