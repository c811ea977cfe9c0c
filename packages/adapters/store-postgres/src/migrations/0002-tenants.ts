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
  "block_answers"
]

const policyOf = (table: string): string => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants ON ${table}
  USING ((SELECT tenants_here()) IS NULL OR tenant = ANY ((SELECT tenants_here())::text[]));`

// The subselects are evaluated once a statement, not once a row.
export const tenants = `
CREATE FUNCTION tenants_here() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT string_to_array(nullif(current_setting('app.tenants', true), ''), ',')
$$;
${restricted.map(policyOf).join("\n")}
`
