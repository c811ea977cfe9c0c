// Tenants: which rows a connection sees and writes.
// Owns the policies of row-level security. Leaves naming the tenants to whoever connects.
// R1  A connection whose setting `app.tenants` names tenants, separated by commas, sees, changes and adds rows of these
//     only, in every table, whatever statement it runs; without the setting it is one of the fleet's own and sees all.
// R2  The owner of the tables is held to it too (FORCE). Superusers and roles with BYPASSRLS are not: a store that is
//     opened for some tenants refuses them.

const restricted = [
  "assistants",
  "states",
  "wakes",
  "envelopes",
  "ledger",
  "sends",
  "records",
  "dead_letters",
  "prompts",
  "blocks",
  "block_readers",
  "block_versions",
  "block_snapshots",
  "block_answers",
  "allowance_accounts",
  "allowance_calls"
]

// Evaluated for each row, which is cheaper than once a statement where a statement finds one row.
const here = "current_setting('app.tenants', true)"

const policyOf = (table: string): string => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants ON ${table} USING (coalesce(${here}, '') = '' OR tenant = ANY (string_to_array(${here}, ',')));`

export const tenants = restricted.map(policyOf).join("\n")
